import { hemAsNumber } from '../../../../schemas/fields.ts'
import {
  domainOf,
  hemNumberOfAddress,
  isAddress,
  isDomain,
  isHemText,
  trimmed,
} from '../../../identity/load/valuesSql.ts'
import type { Query } from '../../../platform/clickhouse/client.ts'
import { type ImportFile, recordBytesMax } from '../file/importFile.ts'
import type { Kind } from '../kinds.ts'
import { type Reason, reasonNames } from '../reasons.ts'

export interface LinesOf {
  readonly importId: string
  readonly listId: string
  readonly organizationId: string
  readonly kind: Kind
  readonly file: ImportFile
}

/** Inserts unchanged lines of a file without NUL, after `before` lines. Use one thread. */
export function plainLinesQuery(lines: LinesOf, before: number): Query {
  const { format, fields, index } = lines.file
  const faults: Faults = [
    ['too_long', `length(text) > ${recordBytesMax}`],
    ['empty_line', `${trimmed('text')} = ''`],
  ]
  if (format === 'csv' && fields > 1) {
    faults.push(['wrong_field_count', `length(splitByChar({delimiter:String}, text)) != ${fields}`])
  } else if (format === 'csv')
    faults.push(['wrong_field_count', `position(text, {delimiter:String}) > 0`])
  const item =
    format === 'csv' && fields > 1 ? `splitByChar({delimiter:String}, text)[${index + 1}]` : 'text'
  return insertOf(lines, {
    before,
    faults,
    item: format === 'csv' ? item : jsonItem,
    from: "SELECT rowNumberInAllBlocks() AS line, text FROM input('text String')",
    inputFormat: 'LineAsString',
  })
}

export function encodedRowsQuery(lines: LinesOf, before: number): Query {
  const names = reasonNames.map((name) => `'${name}'`).join(', ')
  return insertOf(lines, {
    before,
    faults: [],
    item: lines.file.format === 'csv' ? 'text' : jsonItem,
    from: `SELECT line, ['', ${names}][fault + 1] AS fault, text FROM input('line UInt32, fault UInt8, text String')`,
    fault: 'fault',
    inputFormat: 'RowBinary',
  })
}

/** Checks items of a JSON body: `line` from 1, `reason` or the empty text, `member` as text. */
export function itemsQuery(kind: Kind, items: readonly unknown[]): Query {
  const { value, wrong } = memberOf[kind]
  const faults: Faults = [
    ['no_value', "item = ''"],
    ['nul_byte', `position(item, '\\0') > 0`],
    wrong,
  ]
  const cases = faults.flatMap(([reason, condition]) => [condition, `'${reason}'`]).join(', ')
  return {
    sql: `SELECT line, reason_ AS reason, toString(${value}) AS member
FROM (SELECT line, item, multiIf(${cases}, '') AS reason_
  FROM (SELECT line, ${trimmed('text')} AS item
    FROM (SELECT {items:Array(String)} AS items) ARRAY JOIN arrayEnumerate(items) AS line, items AS text))
ORDER BY line`,
    params: { items: items.map((item) => (typeof item === 'string' ? item : '')) },
  }
}

/** Reasons with their conditions; the first one that holds counts. */
type Faults = (readonly [Reason, string])[]

interface Insert {
  readonly before: number
  readonly from: string
  readonly inputFormat: string
  readonly faults: Faults
  /** SQL of the item's text. */
  readonly item: string
  /** SQL of an already known reason, or the empty text. */
  readonly fault?: string
}

/** A line is a text, or an object that contains one. */
const jsonItem =
  "multiIf(JSONType(text) = 'String', JSONExtractString(text), JSONType(text, {column:String}) = 'String', JSONExtractString(text, {column:String}), '')"

function insertOf(
  { importId, listId, organizationId, kind, file }: LinesOf,
  { before, from, inputFormat, faults, item, fault }: Insert,
): Query {
  const { column, value, wrong } = memberOf[kind]
  const all: Faults = [
    ...faults,
    ...(file.format === 'ndjson' ? ([['not_json', 'NOT isValidJSON(text)']] as Faults) : []),
    ['no_value', "item = ''"],
    // Only JSON can contain NUL through an escape, without a NUL byte in the file.
    ...(file.format === 'ndjson' ? ([['nul_byte', `position(item, '\\0') > 0`]] as Faults) : []),
    wrong,
  ]
  const cases = [
    ...(fault ? [`${fault} != ''`, fault] : []),
    ...all.flatMap(([reason, condition]) => [condition, `'${reason}'`]),
  ].join(', ')
  return {
    sql: `INSERT INTO list_lines (list_id, import_id, organization_id, line, reason, ${column})
SELECT {listId:UUID}, {importId:UUID}, {organizationId:UUID}, line + {before:UInt64} + 1, reason_, ${value}
FROM (
  SELECT line, item, multiIf(${cases}, '') AS reason_
  FROM (SELECT *, ${trimmed(item)} AS item FROM (${from}))
)
FORMAT ${inputFormat}`,
    params: {
      listId,
      importId,
      organizationId,
      before,
      ...(file.format === 'ndjson' ? { column: file.column } : { delimiter: file.delimiter }),
    },
  }
}

/** Returns the member of an item, and the condition for an invalid one; SQL over `item`, a trimmed text. */
const memberOf: Readonly<
  Record<Kind, { column: string; value: string; wrong: readonly [Reason, string] }>
> = {
  emails: {
    column: 'hem_number',
    value: hemNumberOfAddress('item'),
    wrong: ['not_an_email', `NOT ${isAddress('item')}`],
  },
  hems: {
    column: 'hem_number',
    value: `if(reason_ = '', ${hemAsNumber('lower(item)')}, 0)`,
    wrong: ['not_a_hem', `NOT ${isHemText('item')}`],
  },
  domains: {
    column: 'company_domain',
    value: domainOf('item'),
    wrong: ['not_a_domain', `(length(item) > 253 OR NOT ${isDomain(domainOf('item'))})`],
  },
  cookies: {
    column: 'cookie_id',
    value: 'toUUIDOrZero(item)',
    wrong: [
      'not_a_cookie_id',
      "toUUIDOrZero(item) = toUUID('00000000-0000-0000-0000-000000000000')",
    ],
  },
}
