CREATE TABLE stations (station TEXT PRIMARY KEY, name TEXT, area TEXT, docks INTEGER);
INSERT INTO stations VALUES ('CEN-01', 'Praça da Matriz', 'centro', 24), ('CEN-02', 'Mercado Velho', 'centro', 16),
  ('SUL-03', 'Parque das Águas', 'sul', 30), ('SUL-04', 'Terminal Sul', 'sul', 42), ('NOR-05', 'Estádio Norte', 'norte', 12),
  ('NOR-06', 'Parque dos Pinhais', 'norte', 18);
CREATE TABLE trips (day TEXT, station TEXT, trips INTEGER);
WITH RECURSIVE months(n, day) AS (SELECT 0, '2024-01-31' UNION ALL
  SELECT n + 1, date('2024-01-01', '+' || (n + 2) || ' months', '-1 day') FROM months WHERE n < 20)
INSERT INTO trips SELECT day, station, 500 + (n * 31 + s.rowid * 47) % 307 FROM months JOIN stations s;
