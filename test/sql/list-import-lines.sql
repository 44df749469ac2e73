-- Import of a CSV file of e-mail addresses: insert its lines
-- POST /api/v1/lists/00000000-0000-4000-8000-000000000008/imports
--
-- listId UUID = "00000000-0000-4000-8000-000000000008"
-- importId UUID = "00000000-0000-4000-8000-000000000009"
-- organizationId UUID = "00000000-0000-4000-8000-000000000001"
-- before UInt64 = 0
-- delimiter String = ","

INSERT INTO list_lines (list_id, import_id, organization_id, line, reason, hem_number)
SELECT {listId:UUID}, {importId:UUID}, {organizationId:UUID}, line + {before:UInt64} + 1, reason_, reinterpretAsUInt256(SHA256(lowerUTF8(if(match(item, '^[!-+\\--:=?-~]+$') AND NOT startsWith(lower(item), 'mailto:'), item, replaceRegexpAll(replaceRegexpOne(replaceRegexpOne(replaceRegexpAll(item, '[\\p{Cf}\\p{Cc}]', ''), '^[^<]*<([^<>@\\s]+@[^<>\\s]+)>\\s*$', '\\1'), '(?i)^\\s*mailto:([^?]*).*$', '\\1'), '^[\\s\\p{Z}]+|[\\s\\p{Z},;]+$', '')))))
FROM (
    SELECT line, item, multiIf(length(text) > 65536, 'too_long', trimBoth(text, ' \t\n\r') = '', 'empty_line', length(splitByChar({delimiter:String}, text)) != 3, 'wrong_field_count', item = '', 'no_value', NOT (length(if(match(item, '^[!-+\\--:=?-~]+$') AND NOT startsWith(lower(item), 'mailto:'), item, replaceRegexpAll(replaceRegexpOne(replaceRegexpOne(replaceRegexpAll(item, '[\\p{Cf}\\p{Cc}]', ''), '^[^<]*<([^<>@\\s]+@[^<>\\s]+)>\\s*$', '\\1'), '(?i)^\\s*mailto:([^?]*).*$', '\\1'), '^[\\s\\p{Z}]+|[\\s\\p{Z},;]+$', ''))) <= 254 AND match(if(match(item, '^[!-+\\--:=?-~]+$') AND NOT startsWith(lower(item), 'mailto:'), item, replaceRegexpAll(replaceRegexpOne(replaceRegexpOne(replaceRegexpAll(item, '[\\p{Cf}\\p{Cc}]', ''), '^[^<]*<([^<>@\\s]+@[^<>\\s]+)>\\s*$', '\\1'), '(?i)^\\s*mailto:([^?]*).*$', '\\1'), '^[\\s\\p{Z}]+|[\\s\\p{Z},;]+$', '')), '^[^@<>\\s]+@[^@.<>\\s]+([.][^@.<>\\s]+)+$')), 'not_an_email', '') AS reason_
    FROM (SELECT *, trimBoth(splitByChar({delimiter:String}, text)[2], ' \t\n\r') AS item FROM (SELECT rowNumberInAllBlocks() AS line, text FROM input('text String')))
)
FORMAT LineAsString
