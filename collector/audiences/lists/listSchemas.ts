import { type TSchema, Type } from 'typebox'
import {
  Choice,
  Id,
  Name,
  Nullable,
  SeenVersion,
  strictObject,
  Timestamp,
  Version,
} from '../../api/http/commonSchemas.ts'
import { itemErrorMembers } from '../../api/http/itemErrors.ts'
import { CursorParameter, NextCursor, pageQuery } from '../../api/http/pagination.ts'
import { kinds } from './kinds.ts'
import { type Reason, reasonNames, reasons } from './reasons.ts'

export const tags = ['Lists']

/** Most items of a body in JSON. */
const itemsMax = 100_000
/** Most items that are taken out at a time. */
const removedMax = 10_000

const Kind = Choice(kinds, {
  description:
    'What the items are: `emails` (kept as hems, never as addresses), `hems` (SHA-256 of the trimmed, lower-cased ' +
    'address, in hexadecimal digits), `domains` of companies, `cookies` (ids of browsers).',
})

export const List = Type.Object(
  {
    id: Id,
    project_id: Id,
    name: Type.String(),
    kind: Kind,
    count: Type.Integer({ description: 'Members of all completed imports, each once.' }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'List' },
)

const ImportStatus = Choice(['pending', 'processing', 'completed', 'failed'], {
  description: 'Queued, under way, done, or failed: then none of its rows are members.',
})

const Rows = (description: string) => Type.Integer({ description })
const Withheld = Type.Null({
  deprecated: true,
  description:
    'Always null: how many of the people whom you name are known is not free. Use `rows_added`.',
})

export const ListImport = Type.Object(
  {
    id: Id,
    list_id: Id,
    status: ImportStatus,
    progress: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'The share of the file that is done.',
    }),
    rows_total: Rows(
      'Rows of the file: all lines but a header; 0 until it is completed. The sum of the other three.',
    ),
    rows_added: Rows('Rows that added a member to the list.'),
    rows_matched: Withheld,
    rows_unmatched: Withheld,
    rows_duplicate: Rows('Rows whose item an earlier row, or the list, has already.'),
    rows_rejected: Rows('Rows that are no item: `…/rejected` has each with its reason.'),
    error: Nullable(Type.String({ description: 'Why it failed.' })),
    created_at: Timestamp,
    completed_at: Nullable(Timestamp),
  },
  { title: 'ListImport' },
)

export const One = Type.Object({ list: List })
export const Page = Type.Object({ lists: Type.Array(List), next_cursor: NextCursor })
export const OneImport = Type.Object({ import: ListImport })
export const ImportsPage = Type.Object({ imports: Type.Array(ListImport), next_cursor: NextCursor })

const StartedImport = Type.Object({ id: Id, status: ImportStatus })
export const Started = Type.Object({ list: List, import: StartedImport })

const ReasonName = Choice<Reason>(reasonNames, {
  description: Object.entries(reasons)
    .map(([name, meaning]) => `\`${name}\`: ${meaning}`)
    .join('; '),
})

export const RejectedPage = Type.Object({
  rejected: Type.Array(
    Type.Object({
      line: Type.Integer({
        description: 'Where it begins in the file, from 1; of `items` its place.',
      }),
      reason: ReasonName,
      ...itemErrorMembers(reasonNames),
    }),
  ),
  next_cursor: NextCursor,
})

export const Removed = Type.Object({
  removed: Type.Integer({ description: 'Members that are none any longer.' }),
  not_found: Type.Integer({ description: 'Items that were no members, or are given twice.' }),
  rejected: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'The item’s place, from 1.' }),
      reason: ReasonName,
      ...itemErrorMembers(reasonNames),
    }),
    { description: 'Items that are none.' },
  ),
  list: List,
})

const project = { project_id: Type.Optional(Id) }

export const ById = strictObject({ list_id: Type.String() })
export const ByImport = strictObject({ list_id: Type.String(), import_id: Type.String() })
export const ProjectQuery = strictObject(project)
export const ImportsQuery = strictObject({ ...project, ...pageQuery })
export const ListQuery = strictObject({
  ...project,
  audience_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'Those that this audience’s definition names. Not with a key of one project.',
    }),
  ),
  campaign_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'Those that the definition of this campaign’s audience names. Not with a key of one project.',
    }),
  ),
  ...pageQuery,
})

export const RejectedQuery = strictObject({
  ...project,
  limit: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 10_000, default: 1_000, description: 'Most lines.' }),
  ),
  cursor: Type.Optional(CursorParameter),
})

export const ListChange = strictObject({ name: Type.Optional(Name), version: SeenVersion })

const column = Type.Optional(
  Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: '^[^\\u0000]*$',
    description:
      'Which column of the file holds the items; by default the one named like the kind (`email`, `hem`, `domain`, ' +
      '`cookie_id`). A CSV file of one column needs no header.',
  }),
)

/** What is told of a file beside it. */
export const UploadQuery = strictObject({
  ...project,
  name: Type.Optional(Name),
  kind: Type.Optional(Kind),
  column,
})
export const ItemsQuery = strictObject({ ...project, column })
/** All that has to be told of a new list, in the query, a form or JSON. */
export const NewList = strictObject({ ...project, name: Name, kind: Kind, column })
export const NewItems = strictObject({ ...project, column })

const items = (most: number) =>
  Type.Array(Type.Unknown(), {
    minItems: 1,
    maxItems: most,
    description: `Texts, at most ${most}. One that is wrong is rejected, and costs the others nothing.`,
  })

const file = (description: string) => ({ schema: Type.Unsafe<unknown>({ description }) })

/** A body in JSON, or a file, which nothing checks but who reads it. */
const uploadOf = (json: TSchema) => ({
  content: {
    'application/json': { schema: json },
    'text/csv': file(
      'A file of CSV, with a header unless it has one column; plain or gzip, up to 1 GiB.',
    ),
    'application/x-ndjson': file(
      'Lines of JSON: texts, or objects with the column; plain or gzip, up to 1 GiB.',
    ),
    'multipart/form-data': file(
      'A form with such a file; fields before it may say what the query does. What it is, its type or name tells.',
    ),
  },
})

export const NewListBody = uploadOf(
  strictObject({ ...project, name: Name, kind: Kind, items: items(itemsMax) }),
)
export const NewItemsBody = uploadOf(strictObject({ items: items(itemsMax) }))
export const RemovedItems = strictObject({ items: items(removedMax) })
