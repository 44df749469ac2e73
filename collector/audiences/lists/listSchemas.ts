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
const removedMax = 10_000

const Kind = Choice(kinds, {
  description:
    'Type of the items. `emails`: stored as hems, never as addresses. `hems`: SHA-256 of the trimmed, lowercase address, in hex. `domains`: domains of companies. `cookies`: browser ids.',
})

export const List = Type.Object(
  {
    id: Id,
    project_id: Id,
    name: Type.String(),
    kind: Kind,
    count: Type.Integer({ description: 'Distinct members of all completed imports.' }),
    version: Version,
    created_at: Timestamp,
    updated_at: Timestamp,
  },
  { title: 'List' },
)

const ImportStatus = Choice(['pending', 'processing', 'completed', 'failed'], {
  description: 'Status of the import. The rows of a failed import are not members.',
})

const Rows = (description: string) => Type.Integer({ description })

export const ListImport = Type.Object(
  {
    id: Id,
    list_id: Id,
    status: ImportStatus,
    progress: Type.Number({
      minimum: 0,
      maximum: 1,
      description: 'Processed share of the file.',
    }),
    rows_total: Rows(
      'Rows of the file without a header; 0 until the import completes. The sum of the other four.',
    ),
    rows_matched: Type.Optional(
      Rows(
        'Rows that added a member whom a lookup returns: a person with a profile, a known company, or a browser of a known person. Without free answers, this counter and the next are omitted until midnight UTC or an export of the list.',
      ),
    ),
    rows_unmatched: Type.Optional(Rows('Rows that added another member.')),
    rows_duplicate: Rows('Rows that repeat an earlier row or an existing member.'),
    rows_rejected: Rows('Invalid rows; `…/rejected` lists them with reasons.'),
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
        description: 'First line of the row in the file, from 1; for `items` the position.',
      }),
      reason: ReasonName,
      ...itemErrorMembers(reasonNames),
    }),
  ),
  next_cursor: NextCursor,
})

export const Removed = Type.Object({
  removed: Type.Integer({ description: 'Members that were removed.' }),
  not_found: Type.Integer({
    description: 'Items that were not members, or that were listed twice.',
  }),
  rejected: Type.Array(
    Type.Object({
      line: Type.Integer({ description: 'Position of the item, from 1.' }),
      reason: ReasonName,
      ...itemErrorMembers(reasonNames),
    }),
    { description: 'Invalid items.' },
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
      description: 'Only lists in the definition of this audience. Not available to project keys.',
    }),
  ),
  campaign_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'Only lists in the definition of this campaign’s audience. Not available to project keys.',
    }),
  ),
  ...pageQuery,
})

export const RejectedQuery = strictObject({
  ...project,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_000,
      default: 1_000,
      description: 'Maximum number of lines.',
    }),
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
      'The column with the items. Default: the column with the name of the kind (`email`, `hem`, `domain`, `cookie_id`). CSV files with one column need no header.',
  }),
)

export const UploadQuery = strictObject({
  ...project,
  name: Type.Optional(Name),
  kind: Type.Optional(Kind),
  column,
})
export const ItemsQuery = strictObject({ ...project, column })
/** Parameters of a new list, in the query, a form or JSON. */
export const NewList = strictObject({ ...project, name: Name, kind: Kind, column })
export const NewItems = strictObject({ ...project, column })

const items = (countMax: number) =>
  Type.Array(Type.Unknown(), {
    minItems: 1,
    maxItems: countMax,
    description: `At most ${countMax} strings. Invalid items are rejected and do not affect the others.`,
  })

const file = (description: string) => ({ schema: Type.Unsafe<unknown>({ description }) })

/** A JSON body, or a file, which only its reader checks. */
const uploadOf = (json: TSchema) => ({
  content: {
    'application/json': { schema: json },
    'text/csv': file(
      'CSV file, with a header unless it has one column; plain or gzip, up to 1 GiB.',
    ),
    'application/x-ndjson': file(
      'NDJSON file of strings, or of objects with the column; plain or gzip, up to 1 GiB.',
    ),
    'multipart/form-data': file(
      'Form with such a file. Fields before the file can replace the query parameters. The type or name of the file determines its format.',
    ),
  },
})

export const NewListBody = uploadOf(
  strictObject({ ...project, name: Name, kind: Kind, items: items(itemsMax) }),
)
export const NewItemsBody = uploadOf(strictObject({ items: items(itemsMax) }))
export const RemovedItems = strictObject({ items: items(removedMax) })
