-- A town library, made up: books, authors, loans by month, reviews and opening hours. The data ends on 31 October 2025.
BEGIN;
CREATE TABLE library_authors (author TEXT PRIMARY KEY, country TEXT NOT NULL, born INTEGER NOT NULL);
INSERT INTO library_authors VALUES
  ('Ursula Marsh', 'Ireland', 1951),
  ('Tomas Verhoeven', 'Netherlands', 1968),
  ('Amara Okafor', 'Nigeria', 1979),
  ('Edith Lindqvist', 'Sweden', 1934),
  ('Rafael Montoya', 'Chile', 1962),
  ('Hana Kobayashi', 'Japan', 1985),
  ('George Marsh', 'Scotland', 1947);

CREATE TABLE library_books (book TEXT PRIMARY KEY, title TEXT NOT NULL, author TEXT NOT NULL REFERENCES library_authors,
  genre TEXT NOT NULL, pages INTEGER NOT NULL, published INTEGER NOT NULL, price REAL NOT NULL, copies INTEGER NOT NULL);
INSERT INTO library_books VALUES
  ('BK-001', 'A Short History of Salt', 'Ursula Marsh', 'history', 312, 1998, 14.5, 6),
  ('BK-002', 'The Lighthouse Keeper''s Daughter', 'Ursula Marsh', 'novel', 402, 2006, 11.9, 9),
  ('BK-003', 'Tidal Almanac', 'Ursula Marsh', 'poetry', 96, 2015, 9, 3),
  ('BK-004', 'The Clockmaker of Delft', 'Tomas Verhoeven', 'novel', 528, 2011, 16.8, 8),
  ('BK-005', 'Glass and Shadow', 'Tomas Verhoeven', 'crime', 344, 2019, 12.4, 10),
  ('BK-006', 'Rivers Without Names', 'Amara Okafor', 'novel', 288, 2017, 13.2, 12),
  ('BK-007', 'The Market at Dawn', 'Amara Okafor', 'novel', 356, 2022, 15.6, 14),
  ('BK-008', 'Northern Winters', 'Edith Lindqvist', 'novel', 240, 1972, 8.4, 4),
  ('BK-009', 'The Bee Garden', 'Edith Lindqvist', 'children', 48, 1980, 7.2, 11),
  ('BK-010', 'Copper Mountain', 'Rafael Montoya', 'crime', 420, 2003, 10.8, 5),
  ('BK-011', 'The Last Tram', 'Rafael Montoya', 'crime', 298, 2014, 11.4, 7),
  ('BK-012', 'Paper Boats', 'Hana Kobayashi', 'children', 64, 2018, 8.9, 13),
  ('BK-013', 'A Map of Small Islands', 'Hana Kobayashi', 'poetry', 112, 2021, 10.2, 4),
  ('BK-014', 'Understanding Weather', 'George Marsh', 'science', 456, 1995, 22, 3),
  ('BK-015', 'The Night Sky by Eye', 'George Marsh', 'science', 216, 2008, 18.6, 6),
  ('BK-016', 'A Short History of Bread', 'Amara Okafor', 'history', 272, 2024, 17.5, 10);

-- Loans of each month, counted on its last day.
CREATE TABLE library_loans (day TEXT NOT NULL, book TEXT NOT NULL REFERENCES library_books, loans INTEGER NOT NULL, PRIMARY KEY (book, day));
WITH RECURSIVE months(n, day) AS (
  SELECT 1, '2023-01-31'
  UNION ALL SELECT n + 1, date('2023-01-01', '+' || (n + 1) || ' months', '-1 day') FROM months WHERE n < 34
)
INSERT INTO library_loans
SELECT m.day, b.book, 4 + copies + (m.n * (rowid * 7 % 11) + rowid * 5) % 13 + iif(genre = 'children' AND strftime('%m', m.day) IN ('07', '08'), 9, 0)
FROM months m JOIN (SELECT b.*, CAST(substr(book, 4) AS INTEGER) AS rowid FROM library_books b) b
WHERE m.day >= b.published || '-01-01';

CREATE TABLE library_reviews (day TEXT NOT NULL, book TEXT NOT NULL REFERENCES library_books, reader TEXT NOT NULL, stars INTEGER NOT NULL, words TEXT NOT NULL);
INSERT INTO library_reviews VALUES
  ('2024-02-11', 'BK-001', 'Nora', 5, 'You will never look at a table the same way.'),
  ('2025-05-03', 'BK-001', 'Sam', 4, 'Full of odd facts.'),
  ('2024-06-20', 'BK-002', 'Priya', 5, 'I finished it in two evenings.'),
  ('2025-08-14', 'BK-002', 'Leo', 3, 'Slow start.'),
  ('2025-09-30', 'BK-002', 'Nora', 4, 'The ending is worth it.'),
  ('2023-12-01', 'BK-004', 'Ivan', 4, 'The city is the hero.'),
  ('2025-07-07', 'BK-005', 'Priya', 2, 'I guessed it by page forty.'),
  ('2025-09-12', 'BK-005', 'Sam', 4, 'Better than most.'),
  ('2024-03-15', 'BK-006', 'Leo', 5, 'Quiet and strong.'),
  ('2025-10-02', 'BK-006', 'Marta', 5, 'Read it twice.'),
  ('2025-06-18', 'BK-007', 'Ivan', 4, 'Noise, colour, people.'),
  ('2025-10-20', 'BK-007', 'Nora', 5, 'The best of the year.'),
  ('2024-11-09', 'BK-009', 'Marta', 5, 'My son asks for it every night.'),
  ('2025-02-27', 'BK-010', 'Sam', 3, 'Too long.'),
  ('2024-08-08', 'BK-012', 'Priya', 4, 'Lovely drawings.'),
  ('2025-04-22', 'BK-013', 'Leo', 4, 'Small poems, wide seas.'),
  ('2024-01-19', 'BK-014', 'Ivan', 2, 'A school book.'),
  ('2025-10-11', 'BK-016', 'Marta', 5, 'Still warm.');

CREATE TABLE library_hours (day INTEGER PRIMARY KEY, name TEXT NOT NULL, hours TEXT NOT NULL);
INSERT INTO library_hours VALUES (1, 'Monday', 'closed'), (2, 'Tuesday', '10:00 to 18:00'), (3, 'Wednesday', '10:00 to 18:00'),
  (4, 'Thursday', '10:00 to 20:00'), (5, 'Friday', '10:00 to 18:00'), (6, 'Saturday', '10:00 to 16:00'), (7, 'Sunday', 'closed');
COMMIT;
