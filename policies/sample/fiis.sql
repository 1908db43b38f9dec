-- The sample that `/ask` answers from: Brazilian real-estate funds (FIIs) and two portfolios.
--
-- Everything in it is made up. The tickers exist, but the names, prices, dividends, buildings, lawsuits, news and people
-- that stand beside them are invented, and so are the indexes, rates and currencies: nothing here says anything of a real
-- fund, firm or market. Never use it to decide on money.
--
-- The script makes the database from nothing and makes the same one each time: no clock, no random(), a noise that is
-- plain arithmetic with a fixed seed. Days are weekdays from 2023-01-02 to 2025-10-31; there are no holidays. What can follow
-- from something else does: yields from dividends and closes, risk from closes, rankings from both, portfolios from trades.
-- Where a rounding could be a tie it is done in whole numbers, since round() is not the same in every SQLite.
-- Temporary tables hold what it is made with, and go with the connection. CROSS JOIN keeps the tables in the order that is
-- fastest here.

PRAGMA page_size = 4096;
PRAGMA temp_store = MEMORY;

BEGIN;

-- ---------------------------------------------------------------------------------------------------------------- days

CREATE TABLE trading_days (
  n INTEGER PRIMARY KEY,         -- 0 is the first
  day TEXT NOT NULL UNIQUE
);

INSERT INTO trading_days
WITH RECURSIVE calendar(day) AS (
  SELECT '2023-01-02' UNION ALL SELECT date(day, '+1 day') FROM calendar WHERE day < '2025-10-31'
)
SELECT row_number() OVER (ORDER BY day) - 1, day FROM calendar WHERE strftime('%w', day) NOT IN ('0', '6');

-- The last day of each month; a month goes by its first day, as 2025-10-01.
CREATE TEMP TABLE month_ends (month TEXT PRIMARY KEY, n INTEGER, day TEXT) WITHOUT ROWID;

INSERT INTO month_ends SELECT substr(day, 1, 8) || '01', max(n), max(day) FROM trading_days GROUP BY 1;

-- --------------------------------------------------------------------------------------------------------------- funds

-- How each fund is made: where the line that its closes stay near begins and ends, in cents; what it takes of the market's
-- returns and of its own noise; monthly dividend in thousandths, and how far that swings; shares; net worth per share in cents.
-- In the order of the tickers, as the tables that are made from it.
CREATE TEMP TABLE recipe (
  fund INTEGER PRIMARY KEY, ticker TEXT, first_cents INTEGER, last_cents INTEGER, market_part INTEGER, own_part INTEGER,
  dividend_mils INTEGER, dividend_swing INTEGER, shares INTEGER, worth_cents INTEGER
);

INSERT INTO recipe VALUES
  (1, 'ALMI11', 69200, 58300, 5, 22, 3100, 9, 1110000, 187600),
  (2, 'BCFF11', 884, 842, 11, 10, 72, 4, 226000000, 951),
  (3, 'BTLG11', 9890, 10322, 9, 10, 770, 2, 47900000, 10390),
  (4, 'CPTS11', 812, 761, 10, 12, 82, 7, 317000000, 887),
  (5, 'HGBS11', 1890, 2004, 10, 11, 156, 3, 129500000, 2260),
  (6, 'HGLG11', 16120, 15794, 9, 10, 1100, 0, 33800000, 15980),
  (7, 'HGRU11', 11770, 12620, 8, 10, 900, 4, 18400000, 12490),
  (8, 'IRDM11', 8430, 6655, 9, 17, 690, 9, 35600000, 8090),
  (9, 'KNCR11', 10110, 10538, 4, 5, 1040, 5, 74600000, 10220),
  (10, 'KNRI11', 13485, 14870, 8, 9, 1000, 0, 28200000, 16120),
  (11, 'LRDI11', 9240, 7130, 6, 20, 860, 9, 2450000, 9480),
  (12, 'MXRF11', 1018, 962, 6, 8, 98, 6, 431000000, 944),
  (13, 'VINO11', 748, 512, 12, 18, 54, 5, 84300000, 1041),
  (14, 'VISC11', 10240, 10815, 11, 12, 800, 2, 28800000, 12360),
  (15, 'XPLG11', 9510, 9968, 10, 12, 780, 2, 30100000, 10710),
  (16, 'XPML11', 9730, 10610, 12, 11, 880, 2, 56700000, 11590);

CREATE TABLE fiis_registrations (
  ticker TEXT PRIMARY KEY,
  name TEXT NOT NULL,
  legal_name TEXT NOT NULL,
  cnpj TEXT NOT NULL,
  isin TEXT NOT NULL,
  sector TEXT NOT NULL,
  subsector TEXT NOT NULL,
  classification TEXT NOT NULL,
  management TEXT NOT NULL,
  audience TEXT NOT NULL,
  administrator TEXT NOT NULL,
  custodian TEXT NOT NULL,
  adviser TEXT NOT NULL,
  ipo_day TEXT NOT NULL,
  shareholders INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO fiis_registrations
WITH given(fund, name, sector, subsector, classification, management, administrator, adviser, ipo_day, shareholders) AS (VALUES
  (1, 'Torre Maracá', 'Lajes corporativas', 'Monoativo', 'Tijolo – Renda', 'Passiva', 'Pedra Azul Administradora', 'Pedra Azul Administradora', '2008-02-13', 2950),
  (2, 'Cesta Figueira', 'Fundo de fundos', 'Cotas de FIIs', 'Papel – Fundo de fundos', 'Ativa', 'Vento Leste DTVM', 'Figueira Asset', '2010-06-23', 341000),
  (3, 'Docas Boreal', 'Logística', 'Galpões urbanos', 'Tijolo – Renda', 'Ativa', 'Banco Araribá', 'Boreal Imóveis', '2016-08-15', 402100),
  (4, 'Títulos Cedro', 'Recebíveis', 'CRI de baixo risco', 'Papel – Títulos e valores mobiliários', 'Ativa', 'Pedra Azul Administradora', 'Cedro Gestora', '2014-09-02', 371800),
  (5, 'Bulevar Bonança', 'Shoppings', 'Shoppings regionais', 'Tijolo – Renda', 'Ativa', 'Banco Araribá', 'Serra Clara Gestora', '2006-12-18', 164200),
  (6, 'Galpões Serra Clara', 'Logística', 'Galpões logísticos', 'Tijolo – Renda', 'Ativa', 'Banco Araribá', 'Serra Clara Gestora', '2011-05-10', 498200),
  (7, 'Renda Ladrilho', 'Renda urbana', 'Varejo e educação', 'Tijolo – Renda', 'Ativa', 'Banco Araribá', 'Serra Clara Gestora', '2018-07-26', 214600),
  (8, 'Recibos Marinho', 'Recebíveis', 'CRI de maior retorno', 'Papel – Títulos e valores mobiliários', 'Ativa', 'Vento Leste DTVM', 'Marinho Crédito', '2018-03-27', 352600),
  (9, 'Juros Pinheiral', 'Recebíveis', 'CRI indexado ao CDI', 'Papel – Títulos e valores mobiliários', 'Ativa', 'Pedra Azul Administradora', 'Aroeira Investimentos', '2012-10-15', 388700),
  (10, 'Pátio Aroeira', 'Híbrido', 'Galpões e lajes', 'Tijolo – Híbrido', 'Ativa', 'Pedra Azul Administradora', 'Aroeira Investimentos', '2010-12-01', 301700),
  (11, 'Lotes Alvorada', 'Desenvolvimento', 'Loteamentos', 'Desenvolvimento – Venda', 'Ativa', 'Pedra Azul Administradora', 'Alvorada Terras', '2020-03-12', 8450),
  (12, 'Crédito Jatobá', 'Recebíveis', 'CRI diversificado', 'Papel – Títulos e valores mobiliários', 'Ativa', 'Vento Leste DTVM', 'Jatobá Crédito', '2012-04-09', 1240500),
  (13, 'Escritórios Vinhático', 'Lajes corporativas', 'Multiativos', 'Tijolo – Renda', 'Ativa', 'Vento Leste DTVM', 'Farol Gestora', '2019-11-21', 118300),
  (14, 'Vitrines do Sul', 'Shoppings', 'Shoppings regionais', 'Tijolo – Renda', 'Ativa', 'Vento Leste DTVM', 'Farol Gestora', '2017-10-20', 325900),
  (15, 'Rota do Ipê', 'Logística', 'Galpões logísticos', 'Tijolo – Renda', 'Ativa', 'Vento Leste DTVM', 'Capivara Asset', '2018-06-04', 312400),
  (16, 'Praça das Lojas', 'Shoppings', 'Shoppings dominantes', 'Tijolo – Renda', 'Ativa', 'Banco Araribá', 'Capivara Asset', '2017-12-28', 579300)
)
SELECT ticker, name, name || ' Fundo de Investimento Imobiliário', printf('00.000.0%02d/0001-00', fund),
  printf('BRX%sCTF%03d', substr(ticker, 1, 4), fund), sector, subsector, classification, management, 'Investidores em geral',
  administrator, 'Custódia Mirante', adviser, ipo_day, shareholders
FROM given JOIN recipe USING (fund);

-- -------------------------------------------------------------------------------------------------------------- market

-- A walk takes a step of noise each day, and a small one towards the line between its first and its last level. Its noise is
-- a seed that is multiplied up (Lehmer's generator); three of its digits together, less 1500, are near to a bell curve of
-- deviation 500.
CREATE TEMP TABLE ifix (n INTEGER PRIMARY KEY, level INTEGER, before INTEGER, ret INTEGER);

INSERT INTO ifix
WITH RECURSIVE walk(n, level, before, seed) AS (
  SELECT 0, 287140, NULL, 20251031
  UNION ALL
  SELECT n + 1, level + level * (seed % 1000 + seed / 1000 % 1000 + seed / 1000000 % 1000 - 1500) * 9 / 1000000
    + (287140 + 96 * n - level) / 60, level, seed * 48271 % 2147483647
  FROM walk WHERE n < 739
)
SELECT n, level, before, (level - before) * 1000000 / before FROM walk;    -- the return is in millionths

CREATE TEMP TABLE market_walk (series TEXT, n INTEGER, level INTEGER, before INTEGER, PRIMARY KEY (series, n)) WITHOUT ROWID;

INSERT INTO market_walk
WITH RECURSIVE made(series, first, daily, market_part, own_part, seed) AS (VALUES
  ('EUR', 56980, 7, -20, 12, 55441127), ('IBOV', 10640000, 5800, 60, 18, 917263541), ('IFIL', 213075, 75, 97, 2, 1402556171),
  ('USD', 53420, 1, -20, 13, 1893300457)
),
walk(series, n, level, before, seed) AS (
  SELECT series, 0, first, NULL, seed FROM made
  UNION ALL
  SELECT w.series, w.n + 1, w.level + w.level * (market_part * ret / 100
      + own_part * (w.seed % 1000 + w.seed / 1000 % 1000 + w.seed / 1000000 % 1000 - 1500)) / 1000000
    + (first + daily * w.n - w.level) / 60, w.level, w.seed * 48271 % 2147483647
  FROM walk w CROSS JOIN made USING (series) CROSS JOIN ifix ON ifix.n = w.n + 1
)
SELECT series, n, level, before FROM walk UNION ALL SELECT 'IFIX', n, level, before FROM ifix;

CREATE TABLE b3_indexes (
  code TEXT NOT NULL,
  day TEXT NOT NULL,
  points REAL NOT NULL,
  change_pct REAL,               -- against the day before; none on the first
  PRIMARY KEY (code, day)
) WITHOUT ROWID;

INSERT INTO b3_indexes
SELECT series, day, level / 100.0, ((level - before) * 20000 + iif(level < before, -before, before)) / (before * 2) / 100.0
FROM market_walk CROSS JOIN trading_days USING (n) WHERE series IN ('IBOV', 'IFIL', 'IFIX');

CREATE TABLE currency_rates (
  currency TEXT NOT NULL,
  day TEXT NOT NULL,
  buy REAL NOT NULL,
  sell REAL NOT NULL,
  change_pct REAL,               -- of the selling rate
  PRIMARY KEY (currency, day)
) WITHOUT ROWID;

INSERT INTO currency_rates
SELECT series, day, (level - 6) / 10000.0, level / 10000.0, ((level - before) * 20000 + iif(level < before, -before, before)) / (before * 2) / 100.0
FROM market_walk CROSS JOIN trading_days USING (n) WHERE series IN ('EUR', 'USD');

CREATE TABLE market_indicators (
  code TEXT NOT NULL,
  day TEXT NOT NULL,             -- when it was told: each day for CDI and SELIC, early in the next month for the others
  period TEXT NOT NULL,          -- what it is the rate of: that day, or the first day of the month
  rate REAL NOT NULL,            -- percent, of the day or of the month
  year_rate REAL,                -- percent: by the year for CDI and SELIC, over 12 months for the others
  level REAL NOT NULL,           -- the rates multiplied up
  PRIMARY KEY (code, day)
) WITHOUT ROWID;

INSERT INTO market_indicators
WITH RECURSIVE steps(code, since, year_rate, day_rate) AS (VALUES
  ('SELIC', '2023-01-02', 1350, 50264),
  ('SELIC', '2023-08-03', 1300, 48511),
  ('SELIC', '2023-10-05', 1225, 45867),
  ('SELIC', '2023-12-14', 1150, 43206),
  ('SELIC', '2024-03-21', 1075, 40526),
  ('SELIC', '2024-06-20', 1050, 39629),
  ('SELIC', '2024-10-03', 1100, 41421),
  ('SELIC', '2024-12-12', 1225, 45867),
  ('SELIC', '2025-02-06', 1325, 49388),
  ('SELIC', '2025-04-03', 1425, 52879),
  ('SELIC', '2025-06-19', 1475, 54612),
  ('CDI', '2023-01-02', 1340, 49914),
  ('CDI', '2023-08-03', 1290, 48159),
  ('CDI', '2023-10-05', 1215, 45513),
  ('CDI', '2023-12-14', 1140, 42849),
  ('CDI', '2024-03-21', 1065, 40168),
  ('CDI', '2024-06-20', 1040, 39270),
  ('CDI', '2024-10-03', 1090, 41063),
  ('CDI', '2024-12-12', 1215, 45513),
  ('CDI', '2025-02-06', 1315, 49037),
  ('CDI', '2025-04-03', 1415, 52531),
  ('CDI', '2025-06-19', 1465, 54266)
),
rates(code, n, day, year_rate, day_rate) AS MATERIALIZED (
  SELECT s.code, n, day, year_rate, day_rate
  FROM (SELECT *, lead(since, 1, '2099-01-01') OVER (PARTITION BY code ORDER BY since) AS until FROM steps) s
  JOIN trading_days ON day >= since AND day < until
),
daily(code, n, day, year_rate, day_rate, level) AS (
  SELECT code, n, day, year_rate, day_rate, 1000000000 + day_rate * 10 FROM rates WHERE n = 0
  UNION ALL
  SELECT d.code, r.n, r.day, r.year_rate, r.day_rate, d.level + d.level * r.day_rate / 100000000
  FROM daily d JOIN rates r ON r.code = d.code AND r.n = d.n + 1
)
SELECT code, day, day, day_rate / 1000000.0, year_rate / 100.0, level / 10000000.0 FROM daily;

INSERT INTO market_indicators
WITH RECURSIVE made(code, base, spread, salt) AS (VALUES ('IPCA', 12, 47, 3), ('INCC', 22, 62, 5), ('IGPM', -32, 145, 8)),
months(m) AS (SELECT 1 UNION ALL SELECT m + 1 FROM months WHERE m < 45),
rates(code, m, rate) AS MATERIALIZED (
  SELECT code, m, base + ((m + 6) * (m + salt) * 7919 + salt * 104729) % 2147483647 % 9973 % spread FROM made CROSS JOIN months
),
monthly(code, m, rate, level) AS (
  SELECT code, 0, NULL, 1000000000 FROM made
  UNION ALL
  SELECT l.code, r.m, r.rate, l.level + l.level * r.rate / 10000
  FROM monthly l JOIN rates r ON r.code = l.code AND r.m = l.m + 1
),
told(code, day, period, rate, before, level) AS (
  SELECT code, date('2022-01-01', printf('+%d months', m),
      CASE code WHEN 'IPCA' THEN '+9 days' WHEN 'INCC' THEN '+4 days' ELSE '+1 day' END),
    date('2022-01-01', printf('+%d months', m - 1)), rate, lag(level, 12) OVER (PARTITION BY code ORDER BY m), level
  FROM monthly
)
-- Told on a weekday: Saturday and Sunday wait for Monday.
SELECT code, CASE strftime('%w', day) WHEN '6' THEN date(day, '+2 days') WHEN '0' THEN date(day, '+1 day') ELSE day END,
  period, rate / 100.0, ((level - before) * 20000 + iif(level < before, -before, before)) / (before * 2) / 100.0, level / 10000000.0
FROM told WHERE before IS NOT NULL ORDER BY 1, 2;

-- The day's market in one row: the single series, read side by side.
CREATE VIEW consolidated_macro AS
SELECT t.day,
  (SELECT rate FROM market_indicators i WHERE i.code = 'IPCA' AND i.day <= t.day ORDER BY i.day DESC LIMIT 1) AS ipca,
  (SELECT year_rate FROM market_indicators i WHERE i.code = 'IPCA' AND i.day <= t.day ORDER BY i.day DESC LIMIT 1) AS ipca_12m,
  selic.year_rate AS selic, cdi.year_rate AS cdi, usd.buy AS usd_buy, usd.sell AS usd_sell, eur.sell AS eur_sell,
  ifix.points AS ifix, ifix.change_pct AS ifix_change, ibov.points AS ibov, ibov.change_pct AS ibov_change
FROM trading_days t
JOIN market_indicators selic ON selic.code = 'SELIC' AND selic.day = t.day
JOIN market_indicators cdi ON cdi.code = 'CDI' AND cdi.day = t.day
JOIN currency_rates usd ON usd.currency = 'USD' AND usd.day = t.day
JOIN currency_rates eur ON eur.currency = 'EUR' AND eur.day = t.day
JOIN b3_indexes ifix ON ifix.code = 'IFIX' AND ifix.day = t.day
JOIN b3_indexes ibov ON ibov.code = 'IBOV' AND ibov.day = t.day;

-- -------------------------------------------------------------------------------------------------------------- prices

CREATE TABLE fiis_quota_prices (
  ticker TEXT NOT NULL,
  day TEXT NOT NULL,
  open REAL NOT NULL,
  high REAL NOT NULL,
  low REAL NOT NULL,
  close REAL NOT NULL,
  change_pct REAL,               -- against the close before; none on the first day
  PRIMARY KEY (ticker, day)
) WITHOUT ROWID;

-- In thousandths: the close, the one before, and up to that one the highest and the worst fall from it (millionths).
CREATE TEMP TABLE walk (
  fund INTEGER, n INTEGER, mils INTEGER, before INTEGER, peak INTEGER, fall INTEGER, market_ret INTEGER, seed INTEGER,
  PRIMARY KEY (n, fund)
) WITHOUT ROWID;

INSERT INTO walk
WITH RECURSIVE steps(fund, n, mils, before, peak, fall, market_ret, seed) AS (
  SELECT fund, 0, first_cents * 10, NULL, first_cents * 10, 0, NULL, fund * fund * 7654321 % 2147483647 FROM recipe
  UNION ALL
  SELECT w.fund, w.n + 1, mils + mils * (market_part * ret / 9
      + own_part * (seed % 1000 + seed / 1000 % 1000 + seed / 1000000 % 1000 - 1500)) / 1000000
    + (first_cents * 10 + (last_cents - first_cents) * 10 * w.n / 739 - mils) / 80,
    mils, max(peak, mils), max(fall, (peak - mils) * 1000000 / peak), ret, seed * 48271 % 2147483647
  FROM steps w CROSS JOIN ifix ON ifix.n = w.n + 1 CROSS JOIN recipe USING (fund)
)
SELECT * FROM steps;

INSERT INTO fiis_quota_prices
WITH rounded AS (
  SELECT ticker, day, (mils + 5) / 10 AS cents, (w.before + 5) / 10 AS before, seed / 53 % 1000 AS u
  FROM recipe CROSS JOIN trading_days t CROSS JOIN walk w ON w.n = t.n AND w.fund = recipe.fund
),
opened AS (SELECT *, coalesce(before, cents) + cents * (u % 41 - 20) / 8000 AS start FROM rounded)
SELECT ticker, day, start / 100.0, (max(start, cents) + cents * (u % 71) / 9000) / 100.0,
  (min(start, cents) - cents * (u / 10 % 61) / 9000) / 100.0, cents / 100.0, ((cents - before) * 20000 + iif(cents < before, -before, before)) / (before * 2) / 100.0
FROM opened;

-- ------------------------------------------------------------------------------------------------ dividends and yields

CREATE TABLE fiis_dividends (
  ticker TEXT NOT NULL,
  record_day TEXT NOT NULL,      -- "data com": who holds the fund at its close is paid
  announced_day TEXT NOT NULL,
  payment_day TEXT NOT NULL,
  amount REAL NOT NULL,          -- by share
  PRIMARY KEY (ticker, record_day)
) WITHOUT ROWID;

-- Month 0 is December 2021, so that the yields of January 2023 have 12 months behind them. All funds have announced what they
-- pay in November 2025; some have announced two months more.
INSERT INTO fiis_dividends
WITH RECURSIVE months(m, month) AS (
  SELECT 0, '2021-12-01' UNION ALL SELECT m + 1, date(month, '+1 month') FROM months WHERE m < 48
),
dated AS MATERIALIZED (
  SELECT m, date(last, CASE strftime('%w', last) WHEN '6' THEN '-1 day' WHEN '0' THEN '-2 days' ELSE '+0 days' END) AS record_day
  FROM (SELECT m, date(month, '+1 month', '-1 day') AS last FROM months)
),
paid AS MATERIALIZED (
  SELECT fund, ticker, m, record_day, date(record_day, 'start of month', '+1 month', printf('+%d days', 8 + fund % 6)) AS due,
    dividend_mils * (1000 + (last_cents - first_cents) * 600 / first_cents * (m / 6 * 6 - 24) / 48
      + dividend_swing * ((fund * 131 + m * m * 17 + m * 61) * 7919 % 10007 % 21 - 10)) / 1000 AS mils
  FROM recipe CROSS JOIN dated WHERE m <= 46 OR ticker IN ('HGRU11', 'KNCR11', 'MXRF11', 'XPML11')
)
SELECT ticker, record_day, min(record_day, '2025-10-31'),
  date(due, CASE strftime('%w', due) WHEN '6' THEN '+2 days' WHEN '0' THEN '+1 day' ELSE '+0 days' END), (mils + 5) / 10 / 100.0
FROM paid;

CREATE TABLE fiis_yields (
  ticker TEXT NOT NULL,
  month TEXT NOT NULL,           -- its first day; dividends count in the month that they are paid in
  paid REAL NOT NULL,
  paid_12m REAL NOT NULL,
  close REAL NOT NULL,           -- of the last day of the month
  dy_month REAL NOT NULL,        -- paid / close, percent
  dy_12m REAL NOT NULL,          -- paid_12m / close, percent
  PRIMARY KEY (ticker, month)
) WITHOUT ROWID;

INSERT INTO fiis_yields
WITH monthly AS MATERIALIZED (
  SELECT ticker, month, cents, sum(cents) OVER (PARTITION BY ticker ORDER BY month ROWS 11 PRECEDING) AS cents_12m
  FROM (SELECT ticker, substr(payment_day, 1, 8) || '01' AS month, CAST(round(amount * 100) AS INTEGER) AS cents FROM fiis_dividends)
)
SELECT ticker, month, cents / 100.0, cents_12m / 100.0, price / 100.0, (cents * 20000 + price) / (price * 2) / 100.0,
  (cents_12m * 20000 + price) / (price * 2) / 100.0
FROM (
  SELECT ticker, month, cents, cents_12m, CAST(round(close * 100) AS INTEGER) AS price
  FROM monthly CROSS JOIN month_ends USING (month) CROSS JOIN fiis_quota_prices USING (ticker, day)
);

-- ---------------------------------------------------------------------------------------------------------------- risk

CREATE TABLE fiis_risk (
  ticker TEXT NOT NULL,
  day TEXT NOT NULL,             -- the last of a month; from October 2024 on
  return_pct REAL NOT NULL,      -- of 12 months: close against close, plus the dividends
  volatility_pct REAL NOT NULL,  -- of the daily returns of 12 months, by the year
  sharpe REAL NOT NULL,          -- (return - CDI) / volatility
  sortino REAL NOT NULL,         -- the same, of the falls alone
  treynor REAL NOT NULL,         -- (return - CDI) / beta
  alpha_pct REAL NOT NULL,       -- Jensen's: return - (CDI + beta * (IFIX - CDI))
  beta REAL NOT NULL,            -- against IFIX
  r_squared REAL NOT NULL,
  drawdown_pct REAL NOT NULL,    -- the worst fall from a peak since 2023-01-02, as a positive number
  PRIMARY KEY (ticker, day)
) WITHOUT ROWID;

INSERT INTO fiis_risk
-- Returns in millionths, as whole numbers: their sums are the same in whatever order they are taken.
WITH RECURSIVE returns AS (
  SELECT fund, n, substr(day, 1, 8) || '01' AS month, (mils - before) * 1000000 / before AS r, market_ret AS i
  FROM walk CROSS JOIN trading_days USING (n) WHERE day >= '2023-11-01'
),
monthly AS MATERIALIZED (
  SELECT fund, month, count(*) AS c, sum(r) AS r, sum(i) AS i, sum(r * r) AS rr, sum(i * i) AS ii, sum(r * i) AS ri,
    sum(min(r, 0) * min(r, 0)) AS falls
  FROM returns GROUP BY fund, month
),
yearly AS MATERIALIZED (
  SELECT fund, month, sum(c) OVER y AS c, sum(r) OVER y AS r, sum(i) OVER y AS i, sum(rr) OVER y AS rr,
    sum(ii) OVER y AS ii, sum(ri) OVER y AS ri, sum(falls) OVER y AS falls
  FROM monthly WINDOW y AS (PARTITION BY fund ORDER BY month ROWS 11 PRECEDING)
),
spread AS MATERIALIZED (
  SELECT fund, month, (rr - r * r / c) * 252.0 / (c - 1) AS rr, (ii - i * i / c) * 252.0 / (c - 1) AS ii,
    (ri - r * i / c) * 252.0 / (c - 1) AS ri, falls * 252.0 / c AS falls
  FROM yearly WHERE month >= '2024-10-01'
),
-- Square roots by Newton's method: not every SQLite has sqrt().
roots(fund, month, rr, ii, ri, falls, deviation, fall_deviation, step) AS (
  SELECT *, 100000.0, 100000.0, 0 FROM spread
  UNION ALL
  SELECT fund, month, rr, ii, ri, falls, (deviation + rr / deviation) / 2, (fall_deviation + falls / fall_deviation) / 2, step + 1
  FROM roots WHERE step < 6
),
years AS MATERIALIZED (
  SELECT y.ticker, e.day, deviation / 10000 AS volatility, fall_deviation / 10000 AS fall_volatility, ri / ii AS beta,
    ri * ri / (rr * ii) AS r_squared, max(w.fall, (w.peak - w.mils) * 1000000 / w.peak) / 10000.0 AS drawdown,
    ((w.mils - b.mils) / 1000.0 + y.paid_12m) * 100000 / b.mils AS gain,
    (i.level - ib.level) * 100.0 / ib.level AS ifix_gain, (c.level - cb.level) * 100.0 / cb.level AS cdi_gain
  FROM roots r CROSS JOIN recipe USING (fund) CROSS JOIN month_ends e USING (month)
  CROSS JOIN fiis_yields y ON y.ticker = recipe.ticker AND y.month = r.month
  CROSS JOIN trading_days t ON t.n = e.n - 260
  CROSS JOIN walk w ON w.fund = r.fund AND w.n = e.n CROSS JOIN walk b ON b.fund = r.fund AND b.n = t.n
  CROSS JOIN ifix i ON i.n = e.n CROSS JOIN ifix ib ON ib.n = t.n
  CROSS JOIN market_indicators c ON c.code = 'CDI' AND c.day = e.day
  CROSS JOIN market_indicators cb ON cb.code = 'CDI' AND cb.day = t.day
  WHERE step = 6
)
SELECT ticker, day, round(gain, 2), round(volatility, 2), round((gain - cdi_gain) / volatility, 2),
  round((gain - cdi_gain) / fall_volatility, 2), round((gain - cdi_gain) / beta, 2),
  round(gain - cdi_gain - beta * (ifix_gain - cdi_gain), 2), round(beta, 2), round(r_squared, 2), round(drawdown, 2)
FROM years;

-- ------------------------------------------------------------------------------------------------ buildings and papers

CREATE TABLE fiis_real_estate (
  ticker TEXT NOT NULL,
  asset TEXT NOT NULL,
  class TEXT NOT NULL,
  city TEXT,                     -- none for papers, as the address and the area
  state TEXT,
  address TEXT,
  area_m2 INTEGER,
  vacancy_pct REAL,
  overdue_pct REAL NOT NULL,     -- of what was due
  PRIMARY KEY (ticker, asset)
) WITHOUT ROWID;

INSERT INTO fiis_real_estate VALUES
  ('ALMI11', 'Edifício Torre Maracá', 'Laje corporativa', 'Rio de Janeiro', 'RJ', 'Avenida dos Coqueiros, 1', 38600, 52.4, 0),
  ('BTLG11', 'Doca Boreal I', 'Galpão logístico', 'Mauá', 'SP', 'Estrada da Ponte Velha, 310', 61200, 0, 0),
  ('BTLG11', 'Doca Boreal II', 'Galpão logístico', 'Jundiaí', 'SP', 'Rodovia das Amoreiras, km 12', 88400, 4.1, 0),
  ('BTLG11', 'Doca Litoral', 'Galpão logístico', 'Navegantes', 'SC', 'Rua do Cais, 45', 40100, 0, 0),
  ('BTLG11', 'Doca Mineira', 'Galpão logístico', 'Betim', 'MG', 'Avenida do Minério, 900', 53900, 2.6, 0),
  ('CPTS11', 'CRI Cedro Alto', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('CPTS11', 'CRI Moradas do Lago', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('CPTS11', 'CRI Rede Atacado', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('HGBS11', 'Shopping Bonança Leste', 'Shopping', 'São Paulo', 'SP', 'Avenida das Paineiras, 2200', 46800, 4.9, 3.1),
  ('HGBS11', 'Shopping Bonança Vale', 'Shopping', 'São José dos Campos', 'SP', 'Rua do Planador, 77', 31500, 6.2, 2.4),
  ('HGBS11', 'Shopping Rio Manso', 'Shopping', 'Cuiabá', 'MT', 'Avenida do Pantanal, 1500', 28900, 3.3, 4.0),
  ('HGLG11', 'Galpão Serra Clara A', 'Galpão logístico', 'Cajamar', 'SP', 'Rodovia dos Jacarandás, km 31', 102400, 0, 0),
  ('HGLG11', 'Galpão Serra Clara B', 'Galpão logístico', 'Cajamar', 'SP', 'Rodovia dos Jacarandás, km 32', 87300, 5.2, 0),
  ('HGLG11', 'Galpão Vale do Café', 'Galpão logístico', 'Itupeva', 'SP', 'Estrada do Terreiro, 800', 64900, 0, 0.6),
  ('HGLG11', 'Galpão Porto Seco', 'Galpão logístico', 'Duque de Caxias', 'RJ', 'Avenida do Trem, 415', 49800, 8.4, 0),
  ('HGLG11', 'Galpão Três Rios', 'Galpão logístico', 'Extrema', 'MG', 'Rodovia da Divisa, km 4', 118700, 0, 0),
  ('HGRU11', 'Campus Ladrilho', 'Educação', 'Belo Horizonte', 'MG', 'Rua dos Azulejos, 60', 22400, 0, 0),
  ('HGRU11', 'Loja Praia Grande', 'Varejo', 'Praia Grande', 'SP', 'Avenida da Maré, 1010', 9800, 0, 0),
  ('HGRU11', 'Mercado Horto', 'Varejo', 'Salvador', 'BA', 'Ladeira do Horto, 18', 12300, 0, 1.2),
  ('HGRU11', 'Mercado Pampa', 'Varejo', 'Pelotas', 'RS', 'Rua da Charqueada, 233', 11700, 2.0, 0),
  ('IRDM11', 'CRI Loteamento Grota', 'CRI', NULL, NULL, NULL, NULL, NULL, 38.5),
  ('IRDM11', 'CRI Marinho Hotéis', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('IRDM11', 'CRI Resort Enseada', 'CRI', NULL, NULL, NULL, NULL, NULL, 12.0),
  ('IRDM11', 'CRI Usina Solar Catavento', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('KNCR11', 'CRI Pinheiral Escritórios', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('KNCR11', 'CRI Pinheiral Galpões', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('KNCR11', 'CRI Rede Farmácias Luar', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('KNRI11', 'Centro Logístico Aroeira', 'Galpão logístico', 'Louveira', 'SP', 'Rodovia da Uva, km 8', 71600, 0, 0),
  ('KNRI11', 'Centro Logístico Jaguar', 'Galpão logístico', 'Pouso Alegre', 'MG', 'Avenida do Queijo, 350', 58200, 0, 0),
  ('KNRI11', 'Edifício Aroeira Centro', 'Laje corporativa', 'Rio de Janeiro', 'RJ', 'Rua do Bonde, 120', 17400, 9.8, 0),
  ('KNRI11', 'Edifício Aroeira Paulista', 'Laje corporativa', 'São Paulo', 'SP', 'Alameda do Ipê, 500', 21900, 3.5, 0),
  ('KNRI11', 'Edifício Mirante', 'Laje corporativa', 'São Paulo', 'SP', 'Rua das Araucárias, 88', 12600, 0, 0),
  ('LRDI11', 'Loteamento Alvorada', 'Loteamento', 'Sinop', 'MT', 'Estrada do Sol, km 3', 412000, NULL, 4.8),
  ('LRDI11', 'Loteamento Bela Várzea', 'Loteamento', 'Imperatriz', 'MA', 'Rua da Várzea, s/n', 298000, NULL, 7.3),
  ('LRDI11', 'Loteamento Campo Novo', 'Loteamento', 'Rio Verde', 'GO', 'Avenida do Cerrado, 2000', 356000, NULL, 2.9),
  ('MXRF11', 'CRI Condomínio Jatobá', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('MXRF11', 'CRI Frigorífico Ribeirão', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('MXRF11', 'CRI Loteamento Pedra Lisa', 'CRI', NULL, NULL, NULL, NULL, NULL, 21.7),
  ('MXRF11', 'CRI Rede Hospitais Aurora', 'CRI', NULL, NULL, NULL, NULL, NULL, 0),
  ('MXRF11', 'Permuta Residencial Acácias', 'Permuta', 'São Paulo', 'SP', 'Rua das Acácias, 700', 14200, NULL, 0),
  ('VINO11', 'Edifício Oficina', 'Laje corporativa', 'São Paulo', 'SP', 'Rua do Ateliê, 41', 9300, 11.5, 0),
  ('VINO11', 'Edifício Vinhático Alto', 'Laje corporativa', 'São Paulo', 'SP', 'Rua das Figueiras, 1200', 15800, 7.0, 0),
  ('VINO11', 'Edifício Vinhático Lagoa', 'Laje corporativa', 'Rio de Janeiro', 'RJ', 'Rua da Garça, 9', 6700, 24.3, 1.5),
  ('VINO11', 'Edifício Vinhático Sul', 'Laje corporativa', 'Curitiba', 'PR', 'Avenida do Pinhão, 610', 11200, 14.8, 0),
  ('VISC11', 'Shopping Campos Gerais', 'Shopping', 'Ponta Grossa', 'PR', 'Avenida da Erva-Mate, 300', 29400, 6.1, 3.8),
  ('VISC11', 'Shopping Chapada', 'Shopping', 'Brasília', 'DF', 'Setor das Flores, lote 7', 38800, 4.4, 2.2),
  ('VISC11', 'Shopping Maré Alta', 'Shopping', 'Vila Velha', 'ES', 'Rua dos Navegantes, 1400', 33700, 5.0, 5.1),
  ('VISC11', 'Shopping Sabiá', 'Shopping', 'Campinas', 'SP', 'Avenida do Sabiá, 999', 41300, 3.2, 2.7),
  ('VISC11', 'Shopping Serra do Sul', 'Shopping', 'Caxias do Sul', 'RS', 'Rua da Videira, 560', 30900, 7.4, 3.3),
  ('XPLG11', 'Armazém Ipê Amarelo', 'Galpão logístico', 'Cabreúva', 'SP', 'Rodovia do Sereno, km 19', 79500, 3.8, 0),
  ('XPLG11', 'Armazém Ipê Branco', 'Galpão logístico', 'Cabo de Santo Agostinho', 'PE', 'Avenida do Farol, 77', 66800, 0, 0),
  ('XPLG11', 'Armazém Ipê Rosa', 'Galpão logístico', 'Contagem', 'MG', 'Rua da Fundição, 1300', 52100, 6.6, 0.9),
  ('XPLG11', 'Armazém Ipê Roxo', 'Galpão logístico', 'Guarulhos', 'SP', 'Estrada do Hangar, 25', 58700, 0, 0),
  ('XPML11', 'Shopping Capivari', 'Shopping', 'São Paulo', 'SP', 'Avenida Capivari, 4000', 52600, 2.1, 1.8),
  ('XPML11', 'Shopping Igarapé', 'Shopping', 'Manaus', 'AM', 'Avenida das Palmeiras, 1250', 44100, 4.7, 3.6),
  ('XPML11', 'Shopping Jangada', 'Shopping', 'Fortaleza', 'CE', 'Rua da Jangada, 310', 39800, 3.9, 2.9),
  ('XPML11', 'Shopping Liberdade Norte', 'Shopping', 'Natal', 'RN', 'Avenida das Dunas, 820', 35400, 5.5, 4.2),
  ('XPML11', 'Shopping Praça Nova', 'Shopping', 'Goiânia', 'GO', 'Alameda do Buriti, 150', 37900, 3.0, 2.0);

-- ---------------------------------------------------------------------------------------------------------- financials

CREATE TABLE fiis_snapshots (
  ticker TEXT PRIMARY KEY,
  day TEXT NOT NULL,             -- of the close that market values go by
  report_day TEXT NOT NULL,      -- of the report that the others are from
  equity REAL NOT NULL,
  worth_per_share REAL NOT NULL,
  price_to_worth REAL NOT NULL,
  market_cap REAL NOT NULL,
  enterprise_value REAL NOT NULL, -- market cap + net debt
  cash REAL NOT NULL,
  debt REAL NOT NULL,
  net_debt REAL NOT NULL,
  shares INTEGER NOT NULL,
  cap_rate_pct REAL,             -- none for papers, as the vacancy
  vacancy_pct REAL,              -- of the buildings, by area
  payout_pct REAL NOT NULL,
  reserve_per_share REAL NOT NULL, -- dividends not yet paid out
  buildings INTEGER NOT NULL
) WITHOUT ROWID;

INSERT INTO fiis_snapshots
WITH given(fund, cash_bp, debt_bp, cap_rate, payout, reserve) AS (VALUES
  (1, 310, 720, 5.9, 97.5, 1.84), (2, 240, 0, NULL, 96.0, 0.03), (3, 420, 610, 8.7, 95.4, 0.41), (4, 530, 340, NULL, 98.8, 0.02),
  (5, 290, 450, 8.9, 94.2, 0.11), (6, 380, 720, 8.4, 95.8, 1.37), (7, 260, 390, 8.6, 96.3, 0.72), (8, 450, 910, NULL, 99.1, 0.18),
  (9, 610, 0, NULL, 97.9, 0.55), (10, 350, 280, 8.2, 95.1, 0.94), (11, 180, 560, 11.3, 99.4, 0.22), (12, 570, 310, NULL, 98.2, 0.04),
  (13, 220, 2340, 9.6, 98.0, 0.06), (14, 330, 1180, 9.1, 95.0, 0.83), (15, 300, 860, 8.5, 95.6, 0.48), (16, 470, 980, 9.0, 94.7, 0.97)
),
-- In cents, so that what is said to be a sum is one.
cents AS (
  SELECT r.ticker, r.worth_cents, r.shares, r.worth_cents * r.shares AS equity, CAST(round(p.close * 100) AS INTEGER) AS price,
    r.worth_cents * r.shares / 10000 * g.cash_bp AS cash, r.worth_cents * r.shares / 10000 * g.debt_bp AS debt, g.*
  FROM recipe r JOIN given g USING (fund) JOIN fiis_quota_prices p ON p.ticker = r.ticker AND p.day = '2025-10-31'
)
SELECT ticker, '2025-10-31', '2025-09-30', equity / 100.0, worth_cents / 100.0, round(price * 1.0 / worth_cents, 2),
  price * shares / 100.0, (price * shares + debt - cash) / 100.0, cash / 100.0, debt / 100.0, (debt - cash) / 100.0, shares, cap_rate,
  (SELECT round(sum(area_m2 * vacancy_pct) / sum(area_m2), 2) FROM fiis_real_estate e
    WHERE e.ticker = cents.ticker AND vacancy_pct IS NOT NULL),
  payout, reserve, (SELECT count(area_m2) FROM fiis_real_estate e WHERE e.ticker = cents.ticker)
FROM cents;

CREATE TABLE fiis_revenue_schedule (
  ticker TEXT NOT NULL,
  months_from INTEGER NOT NULL,  -- 36: above 36 months
  band TEXT NOT NULL,
  term TEXT NOT NULL,            -- curto: up to 12 months; médio: up to 36; longo
  share_pct REAL NOT NULL,       -- of the revenue that is contracted; 100 together
  PRIMARY KEY (ticker, months_from)
) WITHOUT ROWID;

INSERT INTO fiis_revenue_schedule
WITH RECURSIVE bands(start) AS (SELECT 0 UNION ALL SELECT start + 3 FROM bands WHERE start < 33),
early AS (
  SELECT fund, ticker, start, (fund * fund * 31 + start * start * 7 + fund * start * 13) * 7919 % 10007 % 590 + 20 AS bp
  FROM recipe CROSS JOIN bands
  WHERE ticker IN ('ALMI11', 'BTLG11', 'HGBS11', 'HGLG11', 'HGRU11', 'KNRI11', 'LRDI11', 'VINO11', 'VISC11', 'XPLG11', 'XPML11')
)
SELECT ticker, start, printf('%d–%d meses', start, start + 3), CASE WHEN start < 12 THEN 'curto' ELSE 'médio' END, bp / 100.0
FROM early
UNION ALL
SELECT ticker, 36, 'acima de 36 meses', 'longo', (10000 - sum(bp)) / 100.0 FROM early GROUP BY ticker;

CREATE TABLE fiis_legal_proceedings (
  number TEXT PRIMARY KEY,
  ticker TEXT NOT NULL,
  filed_day TEXT NOT NULL,
  court TEXT NOT NULL,
  instance TEXT NOT NULL,
  stage TEXT NOT NULL,
  risk TEXT NOT NULL,            -- of losing: provável, possível, remota
  claim REAL NOT NULL,
  loss REAL NOT NULL,            -- what losing it would cost
  facts TEXT NOT NULL
) WITHOUT ROWID;

INSERT INTO fiis_legal_proceedings VALUES
  ('0000101-00.2016.0.00.0001', 'ALMI11', '2016-03-14', '2ª Vara Cível', '2ª instância', 'Aguarda julgamento do recurso', 'Possível', 4850000, 3200000, 'Antigo locatário pede de volta obras que fez no edifício.'),
  ('0000102-00.2018.0.00.0001', 'ALMI11', '2018-09-03', '5ª Vara Cível', '1ª instância', 'Em perícia', 'Remota', 1270000, 400000, 'Vizinho alega dano causado pela reforma da fachada.'),
  ('0000103-00.2021.0.00.0001', 'ALMI11', '2021-05-27', '1ª Vara da Fazenda', '1ª instância', 'Aguarda sentença', 'Provável', 2360000, 2360000, 'Município cobra diferença de imposto predial de três anos.'),
  ('0000201-00.2019.0.00.0002', 'KNRI11', '2019-11-18', '8ª Vara Cível', '2ª instância', 'Recurso julgado, cabe novo recurso', 'Possível', 1980000, 1500000, 'Locatário contesta a multa por devolver as lajes antes do prazo.'),
  ('0000202-00.2023.0.00.0002', 'KNRI11', '2023-02-07', '3ª Vara Cível', '1ª instância', 'Em conciliação', 'Remota', 620000, 150000, 'Fornecedor cobra serviços que o fundo diz ter pago.'),
  ('0000301-00.2022.0.00.0003', 'HGLG11', '2022-08-22', '4ª Vara Cível', '1ª instância', 'Aguarda sentença', 'Remota', 3400000, 700000, 'Construtora pede reajuste do contrato de um galpão.'),
  ('0000302-00.2024.0.00.0003', 'HGLG11', '2024-04-16', '6ª Vara Cível', '1ª instância', 'Citação feita', 'Possível', 880000, 880000, 'Locatário pede revisão do aluguel.'),
  ('0000401-00.2020.0.00.0004', 'VISC11', '2020-10-05', '7ª Vara Cível', '2ª instância', 'Aguarda julgamento do recurso', 'Possível', 1540000, 900000, 'Lojistas pedem desconto do período em que o shopping fechou.'),
  ('0000501-00.2023.0.00.0005', 'LRDI11', '2023-06-30', '1ª Vara Cível', '1ª instância', 'Em perícia', 'Provável', 2100000, 1750000, 'Compradores de lotes pedem multa por atraso na entrega.'),
  ('0000601-00.2024.0.00.0006', 'IRDM11', '2024-09-12', '9ª Vara Cível', '1ª instância', 'Execução da garantia', 'Remota', 7300000, 1100000, 'Devedor de um CRI contesta a execução da garantia.');

-- ---------------------------------------------------------------------------------------------------------------- news

CREATE TABLE fiis_news (
  day TEXT NOT NULL,
  title TEXT NOT NULL,
  ticker TEXT,                   -- none: the market as a whole, or a sector
  sector TEXT,                   -- logistics, malls, offices, receivables, hybrid, urban
  kind TEXT NOT NULL,            -- news, material_fact
  tone TEXT NOT NULL,            -- positive, neutral, negative
  source TEXT NOT NULL,
  PRIMARY KEY (day, title)
) WITHOUT ROWID;

INSERT INTO fiis_news VALUES
  ('2024-11-12', 'HGLG11 conclui a compra de um galpão em Extrema', 'HGLG11', 'logistics', 'material_fact', 'positive', 'Comunicado do fundo'),
  ('2025-02-18', 'HGLG11: locatário avisa que deixará parte do galpão Porto Seco', 'HGLG11', 'logistics', 'material_fact', 'negative', 'Comunicado do fundo'),
  ('2025-03-25', 'KNRI11 troca a empresa que cuida de seus edifícios', 'KNRI11', 'hybrid', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-04-09', 'ALMI11 segue com mais da metade do edifício vaga', 'ALMI11', 'offices', 'news', 'negative', 'Folha da Laje'),
  ('2025-05-06', 'XPLG11 alonga dívida e reduz o custo em um ponto', 'XPLG11', 'logistics', 'material_fact', 'positive', 'Comunicado do fundo'),
  ('2025-05-20', 'Escritórios: procura por lajes cresce fora dos centros', NULL, 'offices', 'news', 'positive', 'Folha da Laje'),
  ('2025-06-11', 'IRDM11 inicia a execução da garantia de um CRI em atraso', 'IRDM11', 'receivables', 'material_fact', 'negative', 'Comunicado do fundo'),
  ('2025-06-26', 'VINO11 aluga dois andares em Curitiba', 'VINO11', 'offices', 'news', 'positive', 'Folha da Laje'),
  ('2025-07-03', 'HGLG11 renova contrato do galpão Serra Clara A por dez anos', 'HGLG11', 'logistics', 'material_fact', 'positive', 'Comunicado do fundo'),
  ('2025-07-15', 'LRDI11 adia a entrega de lotes em Imperatriz', 'LRDI11', NULL, 'material_fact', 'negative', 'Comunicado do fundo'),
  ('2025-07-29', 'HGRU11 vende loja com ganho e guarda parte para os próximos meses', 'HGRU11', 'urban', 'material_fact', 'positive', 'Comunicado do fundo'),
  ('2025-08-12', 'BTLG11 anuncia visita aberta aos galpões de Mauá', 'BTLG11', 'logistics', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-08-19', 'Cotistas do HGLG11 aprovam novo regulamento', 'HGLG11', 'logistics', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-08-28', 'CPTS11 troca parte da carteira por títulos mais curtos', 'CPTS11', 'receivables', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-09-04', 'Shoppings: vendas do trimestre sobem menos que o esperado', NULL, 'malls', 'news', 'negative', 'Gazeta do Tijolo'),
  ('2025-09-09', 'HGLG11 vê inadimplência pontual em um galpão', 'HGLG11', 'logistics', 'news', 'negative', 'Gazeta do Tijolo'),
  ('2025-09-16', 'VISC11 amplia a praça de alimentação em Campinas', 'VISC11', 'malls', 'news', 'positive', 'Gazeta do Tijolo'),
  ('2025-09-18', 'XPLG11 mantém a ocupação acima de 95%', 'XPLG11', 'logistics', 'news', 'positive', 'Gazeta do Tijolo'),
  ('2025-09-23', 'Recebíveis: emissões de CRI caem no mês', NULL, 'receivables', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-09-30', 'MXRF11 informa atraso em um dos CRIs da carteira', 'MXRF11', 'receivables', 'material_fact', 'negative', 'Comunicado do fundo'),
  ('2025-10-02', 'KNCR11 passa de 380 mil cotistas', 'KNCR11', 'receivables', 'news', 'positive', 'Diário dos Fundos'),
  ('2025-10-07', 'XPML11 anuncia compra de fatia de shopping em Natal', 'XPML11', 'malls', 'material_fact', 'neutral', 'Comunicado do fundo'),
  ('2025-10-08', 'Logística: entrega de galpões novos bate a do ano passado', NULL, 'logistics', 'news', 'neutral', 'Gazeta do Tijolo'),
  ('2025-10-14', 'KNRI11 aluga andar vago no Rio de Janeiro', 'KNRI11', 'hybrid', 'material_fact', 'positive', 'Comunicado do fundo'),
  ('2025-10-15', 'Número de investidores em FIIs cresce pelo décimo mês', NULL, NULL, 'news', 'positive', 'Diário dos Fundos'),
  ('2025-10-20', 'XPLG11 recebe proposta por galpão em Contagem', 'XPLG11', 'logistics', 'news', 'neutral', 'Gazeta do Tijolo'),
  ('2025-10-21', 'HGLG11 estuda ampliar o galpão Três Rios', 'HGLG11', 'logistics', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-10-22', 'Vacância de galpões cai no interior paulista', NULL, 'logistics', 'news', 'positive', 'Gazeta do Tijolo'),
  ('2025-10-24', 'MXRF11 já anuncia proventos até janeiro', 'MXRF11', 'receivables', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-10-27', 'HGLG11 assina contrato com novo locatário no galpão Porto Seco', 'HGLG11', 'logistics', 'material_fact', 'positive', 'Comunicado do fundo'),
  ('2025-10-28', 'HGLG11 divulga o relatório de setembro', 'HGLG11', 'logistics', 'news', 'neutral', 'Diário dos Fundos'),
  ('2025-10-29', 'Juros altos seguem no centro da conversa sobre fundos imobiliários', NULL, NULL, 'news', 'neutral', 'Gazeta do Tijolo'),
  ('2025-10-30', 'IFIX fecha o mês perto do ponto em que começou', NULL, NULL, 'news', 'neutral', 'Gazeta do Tijolo');

-- ------------------------------------------------------------------------------------------------------------ rankings

CREATE TABLE fiis_rankings (
  metric TEXT NOT NULL,          -- dy_12m, market_cap, sharpe, volatility, drawdown, ifix, ifil, users, sirios
  day TEXT NOT NULL,             -- the last of a month; from October 2024 on
  position INTEGER NOT NULL,     -- 1 is the best: the lowest for volatility and drawdown, else the highest
  ticker TEXT NOT NULL,
  value REAL NOT NULL,
  PRIMARY KEY (metric, day, position)
) WITHOUT ROWID;

INSERT INTO fiis_rankings
WITH monthly AS MATERIALIZED (
  SELECT k.day, fund, k.ticker, dy_12m, sharpe, volatility_pct, drawdown_pct, CAST(round(close * 100) AS INTEGER) * shares AS cap,
    CAST(substr(month, 1, 4) AS INTEGER) * 12 + CAST(substr(month, 6, 2) AS INTEGER) - 24288 AS m
  FROM fiis_risk k JOIN recipe USING (ticker) JOIN fiis_yields y ON y.ticker = k.ticker AND y.month = substr(k.day, 1, 8) || '01'
),
valued(metric, day, ticker, value, best) AS (
  SELECT 'dy_12m', day, ticker, dy_12m, dy_12m FROM monthly
  UNION ALL SELECT 'sharpe', day, ticker, sharpe, sharpe FROM monthly
  UNION ALL SELECT 'volatility', day, ticker, volatility_pct, -volatility_pct FROM monthly
  UNION ALL SELECT 'drawdown', day, ticker, drawdown_pct, -drawdown_pct FROM monthly
  UNION ALL SELECT 'market_cap', day, ticker, cap / 100.0, cap FROM monthly
  -- Both indexes weigh by market value; IFIL leaves the smallest out. Rounded along the running sum, so that they add up to 100.
  UNION ALL SELECT 'ifix', day, ticker, (upto * 10000 / whole - (upto - cap) * 10000 / whole) / 100.0, cap FROM (
    SELECT *, sum(cap) OVER (PARTITION BY day) AS whole, sum(cap) OVER (PARTITION BY day ORDER BY fund) AS upto FROM monthly)
  UNION ALL SELECT 'ifil', day, ticker, (upto * 10000 / whole - (upto - cap) * 10000 / whole) / 100.0, cap FROM (
    SELECT *, sum(cap) OVER (PARTITION BY day) AS whole, sum(cap) OVER (PARTITION BY day ORDER BY fund) AS upto FROM monthly
    WHERE cap > 80000000000)
  -- Users who follow the fund, and a mark of 0 to 100 of half yield, half calm.
  UNION ALL SELECT 'users', day, ticker, u, u FROM (
    SELECT day, ticker, shareholders / 150 + m * (fund * 37 % 11) * 14 + (fund * 53 + m * m * 29) * 7919 % 10007 % 300 AS u
    FROM monthly JOIN fiis_registrations USING (ticker))
  UNION ALL SELECT 'sirios', day, ticker, s, s FROM (
    SELECT day, ticker, min(100.0, round(dy_12m * 4 + max(0, 50 - volatility_pct * 2), 1)) AS s FROM monthly)
)
SELECT metric, day, row_number() OVER (PARTITION BY metric, day ORDER BY best DESC, ticker), ticker, value FROM valued;

-- ---------------------------------------------------------------------------------------------------------- portfolios

-- What the clients `demo` and `ana` bought, at the close of the day. All that is told of their portfolios follows from this.
CREATE TABLE client_trades (
  client_id TEXT NOT NULL,
  ticker TEXT NOT NULL,
  day TEXT NOT NULL,
  broker TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  price REAL NOT NULL,
  PRIMARY KEY (client_id, ticker, day, broker)
) WITHOUT ROWID;

INSERT INTO client_trades
WITH given(client_id, ticker, day, broker, quantity) AS (VALUES
  ('ana', 'BTLG11', '2024-03-12', 'Corretora Bem-te-vi', 120), ('ana', 'IRDM11', '2024-02-06', 'Corretora Bem-te-vi', 90),
  ('ana', 'MXRF11', '2024-01-16', 'Corretora Bem-te-vi', 1500), ('ana', 'MXRF11', '2025-10-14', 'Corretora Bem-te-vi', 300),
  ('ana', 'VINO11', '2024-01-16', 'Corretora Bem-te-vi', 800), ('ana', 'XPLG11', '2024-08-20', 'Corretora Bem-te-vi', 75),
  ('demo', 'CPTS11', '2023-09-12', 'Corretora Sabiá', 1200), ('demo', 'CPTS11', '2024-07-09', 'Corretora Sabiá', 600),
  ('demo', 'HGLG11', '2023-06-15', 'Corretora Sabiá', 60), ('demo', 'HGLG11', '2024-05-14', 'Corretora Sabiá', 40),
  ('demo', 'HGLG11', '2025-10-08', 'Corretora Sabiá', 10), ('demo', 'HGRU11', '2024-04-10', 'Corretora Sabiá', 70),
  ('demo', 'KNCR11', '2024-11-19', 'Corretora Tucano', 110), ('demo', 'KNRI11', '2023-06-15', 'Corretora Sabiá', 55),
  ('demo', 'KNRI11', '2025-02-11', 'Corretora Sabiá', 25), ('demo', 'MXRF11', '2023-07-11', 'Corretora Tucano', 1000),
  ('demo', 'MXRF11', '2024-09-17', 'Corretora Tucano', 700), ('demo', 'MXRF11', '2025-10-21', 'Corretora Tucano', 200),
  ('demo', 'VISC11', '2023-10-17', 'Corretora Sabiá', 95), ('demo', 'XPML11', '2023-08-08', 'Corretora Sabiá', 80),
  ('demo', 'XPML11', '2024-12-03', 'Corretora Tucano', 50)
)
SELECT client_id, ticker, day, broker, quantity, close FROM given CROSS JOIN fiis_quota_prices USING (ticker, day);

CREATE TABLE client_positions (
  client_id TEXT NOT NULL,
  ticker TEXT NOT NULL,
  broker TEXT NOT NULL,
  day TEXT NOT NULL,
  quantity INTEGER NOT NULL,
  previous_quantity INTEGER NOT NULL, -- at the end of the month before
  average_price REAL NOT NULL,
  close REAL NOT NULL,
  value REAL NOT NULL,           -- quantity * close
  PRIMARY KEY (client_id, ticker, broker)
) WITHOUT ROWID;

INSERT INTO client_positions
SELECT client_id, ticker, broker, p.day, sum(quantity), coalesce(sum(quantity) FILTER (WHERE t.day <= '2025-09-30'), 0),
  round(sum(quantity * price) / sum(quantity), 2), close, round(sum(quantity) * close, 2)
FROM client_trades t JOIN fiis_quota_prices p USING (ticker) WHERE p.day = '2025-10-31' GROUP BY client_id, ticker, broker;

CREATE TABLE client_dividends (
  client_id TEXT NOT NULL,
  month TEXT NOT NULL,           -- the first day of the month that it was paid in
  ticker TEXT NOT NULL,
  payment_day TEXT NOT NULL,
  quantity INTEGER NOT NULL,     -- held on the record day
  amount REAL NOT NULL,          -- quantity * dividend
  PRIMARY KEY (client_id, month, ticker)
) WITHOUT ROWID;

INSERT INTO client_dividends
SELECT client_id, substr(payment_day, 1, 8) || '01', ticker, payment_day, sum(quantity), round(sum(quantity) * amount, 2)
FROM client_trades t JOIN fiis_dividends d USING (ticker)
WHERE t.day <= record_day AND payment_day <= '2025-10-31' GROUP BY client_id, ticker, record_day;

-- A level is what one unit grew to; what it grew by within a stretch is its last level against the one before its first.
CREATE TABLE benchmark_levels (
  code TEXT NOT NULL,
  month TEXT NOT NULL,
  before REAL NOT NULL,
  level REAL NOT NULL,
  PRIMARY KEY (code, month)
) WITHOUT ROWID;

INSERT INTO benchmark_levels
WITH ends(code, month, level) AS (
  SELECT code, month, points FROM month_ends CROSS JOIN b3_indexes USING (day) WHERE code IN ('IFIX', 'IBOV')
  UNION ALL SELECT code, month, level FROM month_ends CROSS JOIN market_indicators USING (day) WHERE code = 'CDI'
  -- What was told of IPCA in the month is of the month before; it counts when it is told.
  UNION ALL SELECT code, substr(day, 1, 8) || '01', level FROM market_indicators WHERE code = 'IPCA'
),
paired AS (SELECT code, month, lag(level) OVER (PARTITION BY code ORDER BY month) AS before, level FROM ends)
SELECT * FROM paired WHERE before IS NOT NULL;

CREATE TABLE client_levels (
  client_id TEXT NOT NULL,
  month TEXT NOT NULL,
  value REAL NOT NULL,           -- at the end of the month
  before REAL NOT NULL,
  level REAL NOT NULL,           -- grows by (value + dividends) / (value before + what was bought)
  PRIMARY KEY (client_id, month)
) WITHOUT ROWID;

INSERT INTO client_levels
WITH RECURSIVE worth(client_id, month, value) AS MATERIALIZED (
  SELECT client_id, month, sum(quantity * close)
  FROM client_trades t CROSS JOIN month_ends e ON e.day >= t.day CROSS JOIN fiis_quota_prices p ON p.ticker = t.ticker AND p.day = e.day
  GROUP BY client_id, month
),
bought(client_id, month, value) AS MATERIALIZED (
  SELECT client_id, substr(day, 1, 8) || '01', sum(quantity * price) FROM client_trades GROUP BY 1, 2
),
earned(client_id, month, value) AS MATERIALIZED (SELECT client_id, month, sum(amount) FROM client_dividends GROUP BY 1, 2),
grown(client_id, month, value, factor) AS MATERIALIZED (
  SELECT client_id, month, w.value, (w.value + coalesce(e.value, 0))
    / (coalesce(lag(w.value) OVER (PARTITION BY client_id ORDER BY month), 0) + coalesce(b.value, 0))
  FROM worth w LEFT JOIN bought b USING (client_id, month) LEFT JOIN earned e USING (client_id, month)
),
levels(client_id, month, value, before, level) AS (
  SELECT client_id, min(month), value, 1.0, factor FROM grown GROUP BY client_id
  UNION ALL
  SELECT l.client_id, g.month, g.value, l.level, l.level * g.factor
  FROM levels l JOIN grown g ON g.client_id = l.client_id AND g.month = date(l.month, '+1 month')
)
SELECT client_id, month, round(value, 2), round(before, 6), round(level, 6) FROM levels;

-- --------------------------------------------------------------------------------------------------------------- texts

CREATE TABLE texts (
  topic TEXT NOT NULL,           -- about, limits, pricing, privacy, terms, howto, yields, macro
  place INTEGER NOT NULL,
  title TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (topic, place)
) WITHOUT ROWID;

INSERT INTO texts VALUES
  ('about', 1, 'O que é', 'Um produto inventado para esta amostra, que as perguntas chamam de SIRIOS: responde em português sobre fundos imobiliários, a partir de uma base de dados.'),
  ('about', 2, 'O que responde', 'Cotações, dividendos, DY, risco, imóveis, processos, notícias, rankings, índices, câmbio, indicadores e a carteira do próprio cliente.'),
  ('about', 3, 'O que não faz', 'Não compra nem vende, não recomenda investimentos, e todos os seus números são fictícios.'),
  ('limits', 1, 'Gratuito', '20 perguntas por dia, histórico de 12 meses e uma carteira.'),
  ('limits', 2, 'Pro', '500 perguntas por dia, histórico completo e cinco carteiras.'),
  ('limits', 3, 'Equipe', '5.000 perguntas por dia, somadas entre as pessoas da equipe.'),
  ('pricing', 1, 'Gratuito', 'R$ 0,00. Não pede cartão.'),
  ('pricing', 2, 'Pro', 'R$ 19,90 por mês, ou R$ 199,00 por ano.'),
  ('pricing', 3, 'Equipe', 'R$ 14,90 por pessoa e por mês, a partir de cinco pessoas.'),
  ('privacy', 1, 'O que se guarda', 'As perguntas e respostas da conversa, pelo prazo da política de contexto, e a carteira que o cliente cadastrou.'),
  ('privacy', 2, 'Quem vê', 'Só o próprio cliente: cada consulta à carteira leva a sua identificação.'),
  ('privacy', 3, 'Seus direitos', 'Como prevê a LGPD, você pode pedir cópia, correção ou exclusão dos seus dados a qualquer momento.'),
  ('terms', 1, 'Uso', 'As respostas servem para informação e estudo; não são recomendação de investimento.'),
  ('terms', 2, 'Dados', 'Os dados desta amostra são fictícios e não descrevem nenhum fundo real.'),
  ('terms', 3, 'Conta', 'O acesso é pessoal. Uso automatizado acima dos limites do plano pode ser suspenso.'),
  ('howto', 1, 'Filtrar por classificação', 'Abra a lista de fundos, toque em Filtros, escolha Classificação e marque uma ou mais opções. Limpar desfaz a escolha.'),
  ('howto', 2, 'Ordenar uma tabela', 'Toque no título da coluna; um segundo toque inverte a ordem.'),
  ('howto', 3, 'Comparar fundos', 'Pergunte com dois ou mais códigos, por exemplo: compare HGLG11 e XPML11.'),
  ('howto', 4, 'Escolher o período', 'Diga-o na pergunta: hoje, em 2024, nos últimos 6 meses, entre duas datas.'),
  ('howto', 5, 'Cadastrar a carteira', 'Em Minha carteira, toque em Adicionar e informe fundo, quantidade, preço e corretora.'),
  ('howto', 6, 'Exportar', 'Abaixo de cada tabela, toque em Exportar para baixar um arquivo CSV.'),
  ('yields', 1, 'O que é', 'Dividend yield (DY) é quanto o fundo pagou por cota dividido pelo preço da cota, em porcentagem.'),
  ('yields', 2, 'Mensal e de 12 meses', 'O DY mensal usa o que foi pago no mês; o de 12 meses soma os últimos doze pagamentos. Os dois usam o fechamento do mês.'),
  ('yields', 3, 'Como ler', 'O DY sobe quando o fundo paga mais, mas também quando a cota cai: vale olhar as duas coisas.'),
  ('macro', 1, 'IPCA', 'Inflação mais alta corrige aluguéis e títulos atrelados ao IPCA, o que ajuda a renda; se ela leva os juros para cima, as cotas tendem a sentir.'),
  ('macro', 2, 'SELIC', 'Juros em queda tornam a renda dos fundos de tijolo mais atraente frente à renda fixa e costumam favorecer as cotas; em alta, o efeito é o contrário.'),
  ('macro', 3, 'CDI', 'Fundos de recebíveis atrelados ao CDI pagam mais quando ele sobe e menos quando ele cai.'),
  ('macro', 4, 'Dólar', 'O efeito é indireto: dólar em alta pressiona preços e juros. Recebíveis atrelados à inflação acompanham; os demais fundos tendem a sentir os juros.');

COMMIT;
