-- The language of a browser is a column of events now, so that of a profile is named as its other columns of the home.
-- The view that writes profile_rows is made anew at every start that lacks it.
DROP VIEW IF EXISTS profile_rows_from_profiles;
ALTER TABLE profiles RENAME COLUMN IF EXISTS language TO home_language;
