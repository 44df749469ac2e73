-- What makes the ids of visitors without consent; a day's salt is deleted when the day is over.
CREATE TABLE daily_salts (
  day date PRIMARY KEY,
  salt text NOT NULL
);
