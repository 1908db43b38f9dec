CREATE TABLE theatres (theatre TEXT PRIMARY KEY, seats INTEGER);
INSERT INTO theatres VALUES ('Маяк', 420), ('Сатурн', 310), ('Малая сцена', 90);
CREATE TABLE plays (play TEXT PRIMARY KEY, theatre TEXT, genre TEXT, minutes INTEGER, price REAL);
INSERT INTO plays VALUES ('Тихая гавань', 'Маяк', 'драма', 150, 1800), ('Северный ветер', 'Маяк', 'драма', 125, 1500),
  ('Три дороги', 'Сатурн', 'комедия', 95, 1200), ('Ночной трамвай', 'Сатурн', 'детектив', 140, 2100),
  ('Дом у моря', 'Малая сцена', 'комедия', 80, 900), ('Северный поезд', 'Малая сцена', 'детектив', 110, 1100);
CREATE TABLE sales (day TEXT, play TEXT, tickets INTEGER);
WITH RECURSIVE days(n, day) AS (SELECT 0, '2024-01-31' UNION ALL
  SELECT n + 1, date('2024-01-01', '+' || (n + 2) || ' months', '-1 day') FROM days WHERE n < 20)
INSERT INTO sales SELECT day, play, 100 + (n * 37 + p.rowid * 53) % 211 FROM days JOIN plays p;
