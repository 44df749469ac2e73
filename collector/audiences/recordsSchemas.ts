import { Type } from 'typebox'
import { Bytes, Id, Nullable, strictObject } from '../api/http/commonSchemas.ts'
import { CursorParameter, NextCursor } from '../api/http/pagination.ts'
import { ChargedMeta } from '../billing/chargedMeta.ts'
import { Person } from '../identity/store/personSchemas.ts'
import { ById, projectParameter, recordTags } from './audienceSchemas.ts'

/** Spec: Limits. */
export const pageSize = { default: 1_000, max: 5_000 } as const

const PageQuery = strictObject({
  ...projectParameter,
  page_size: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: pageSize.max,
      default: pageSize.default,
      description:
        'Maximum records per page. A page can have fewer records and still not be the last.',
    }),
  ),
  cursor: Type.Optional(CursorParameter),
})

/** Spec: Errors, of the routes that read builds. */
const useDownload =
  '`use_download`: the audience is of companies, which only the download route returns.'
export const recordsRefusals = {
  409: '`not_ready`: the audience is not built yet. `cursor_stale`: the audience was rebuilt after the cursor was issued. Start again without a cursor.',
  422: useDownload,
}
export const changesRefusals = {
  409: '`not_ready`: the build is not completed, or the members of one of the two builds were deleted. Choose a newer build.',
  422: useDownload,
}

/** Spec: Audience record page. */
const RecordPage = Type.Object(
  {
    audience_id: Id,
    count: Type.Integer({ description: 'Records of the build, counted on the first page.' }),
    total: Type.Integer({ description: 'The same as `count`.' }),
    results: Type.Array(Person),
    next_cursor: NextCursor,
    meta: ChargedMeta,
  },
  { title: 'AudienceRecordPage' },
)

/** GET /api/v1/audiences/{audience_id}/records. */
export const describeRecords = {
  tags: recordTags,
  operationId: 'listAudienceRecords',
  summary: 'List the records of an audience',
  description:
    'Returns one row for each person of the served build, in the order of the build. Follow `next_cursor` until it is null. A record is charged once per UTC day, and is free after a download of the build. Budgets and limits must cover the unpaid records of the page.',
  params: ById,
  querystring: PageQuery,
  response: { 200: Bytes(RecordPage) },
}

const change = Type.Union([Type.Literal('entered'), Type.Literal('left')], {
  description: 'Changes between the two builds.',
})

const ChangesPage = Type.Object(
  {
    audience_id: Id,
    build_id: Id,
    previous_build_id: Nullable(
      Type.String({
        format: 'uuid',
        description:
          'The previous build. Null if there is none on the same meter: all members entered.',
      }),
    ),
    results: Type.Array(Type.Intersect([Type.Object({ change }), Person]), {
      description: 'Members who entered first, then those who left.',
    }),
    next_cursor: NextCursor,
    meta: ChargedMeta,
  },
  { title: 'AudienceChangesPage' },
)

/** GET /api/v1/audiences/{audience_id}/builds/{build_id}/changes. */
export const describeChanges = {
  tags: recordTags,
  operationId: 'listAudienceChanges',
  summary: 'List the changes of an audience',
  description:
    'Returns the differences between a completed build and the previous one. Charged like records: entries as records ' +
    'of this build, exits as records of the previous one. After a build on another meter, all members entered. The ' +
    'meter is audience_predictive if intent determines the members.',
  params: strictObject({ audience_id: Type.String(), build_id: Id }),
  querystring: PageQuery,
  response: { 200: Bytes(ChangesPage) },
}
