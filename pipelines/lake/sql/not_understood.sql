-- Which files of the stores were not read, and why?
SELECT broker, file, size, why
FROM store_files
WHERE kind = 'not_understood' OR why IS NOT NULL
ORDER BY broker, file;
