-- POST /api/v1/lists/00000000-0000-4000-8000-000000000008/imports
--   {"items":["ada@example.com","nobody"]}
--
-- items Array(String) = ["ada@example.com","nobody"]

SELECT line, reason_ AS reason, toString(reinterpretAsUInt256(SHA256(lowerUTF8(if(match(item, '^[!-+\\--:=?-~]+$') AND NOT startsWith(lower(item), 'mailto:'), item, replaceRegexpAll(replaceRegexpOne(replaceRegexpOne(replaceRegexpAll(item, '[\\p{Cf}\\p{Cc}]', ''), '^[^<]*<([^<>@\\s]+@[^<>\\s]+)>\\s*$', '\\1'), '(?i)^\\s*mailto:([^?]*).*$', '\\1'), '^[\\s\\p{Z}]+|[\\s\\p{Z},;]+$', '')))))) AS member
FROM (SELECT line, item, multiIf(item = '', 'no_value', position(item, '\0') > 0, 'nul_byte', NOT (length(if(match(item, '^[!-+\\--:=?-~]+$') AND NOT startsWith(lower(item), 'mailto:'), item, replaceRegexpAll(replaceRegexpOne(replaceRegexpOne(replaceRegexpAll(item, '[\\p{Cf}\\p{Cc}]', ''), '^[^<]*<([^<>@\\s]+@[^<>\\s]+)>\\s*$', '\\1'), '(?i)^\\s*mailto:([^?]*).*$', '\\1'), '^[\\s\\p{Z}]+|[\\s\\p{Z},;]+$', ''))) <= 254 AND match(if(match(item, '^[!-+\\--:=?-~]+$') AND NOT startsWith(lower(item), 'mailto:'), item, replaceRegexpAll(replaceRegexpOne(replaceRegexpOne(replaceRegexpAll(item, '[\\p{Cf}\\p{Cc}]', ''), '^[^<]*<([^<>@\\s]+@[^<>\\s]+)>\\s*$', '\\1'), '(?i)^\\s*mailto:([^?]*).*$', '\\1'), '^[\\s\\p{Z}]+|[\\s\\p{Z},;]+$', '')), '^[^@<>\\s]+@[^@.<>\\s]+([.][^@.<>\\s]+)+$')), 'not_an_email', '') AS reason_
    FROM (SELECT line, trimBoth(text, ' \t\n\r') AS item
        FROM (SELECT {items:Array(String)} AS items) ARRAY JOIN arrayEnumerate(items) AS line, items AS text))
ORDER BY line
