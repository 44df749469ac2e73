import { type TProperties, Type } from 'typebox'
import { sampleIdentity } from '../../api/access/sandboxTenant.ts'
import { Name, Timestamp } from '../../api/http/commonSchemas.ts'
import { type ApiError, notFound } from '../../api/http/errors.ts'
import { FiguresFilterText, readFiguresFilters } from '../figuresRequest.ts'
import { readSteps, Steps, withinMsMax } from '../funnelSteps.ts'

/** The fields of a segment, a funnel or an annotation. */
export type SavedContent = Readonly<Record<string, unknown>>

/** A kind of item that the people of a project save and share. */
export interface SavedKind {
  readonly kind: 'segment' | 'funnel' | 'annotation'
  readonly plural: 'segments' | 'funnels' | 'annotations'
  /** Ends the operation ids: createAnalyticsSegment. */
  readonly title: string
  /** For the summaries: "a segment". */
  readonly article: string
  readonly description: string
  readonly fields: TProperties
  readonly sampleId: string
  notFound(): ApiError
  /** Throws 400 that names the field whose value the schema cannot check. */
  check(content: SavedContent): void
}

const filterLengthMax = 2_000

const FilterText = Type.Unsafe<string>({
  ...FiguresFilterText,
  minLength: 1,
  maxLength: filterLengthMax,
})

/** Named filters. */
export const segmentKind: SavedKind = {
  kind: 'segment',
  plural: 'segments',
  title: 'Segment',
  article: 'a segment',
  description: 'A segment is a named filter. Use its `filter` in any analytics request.',
  fields: { name: Name, filter: FilterText },
  sampleId: sampleIdentity.segmentId,
  notFound: notFound.segment,
  check({ filter }) {
    readFiguresFilters(filter as string | undefined)
  },
}

const funnels: SavedKind = {
  kind: 'funnel',
  plural: 'funnels',
  title: 'SavedFunnel',
  article: 'a saved funnel',
  description: 'Send its `steps` and `within_ms` to `POST /api/v1/analytics/funnel`.',
  fields: {
    name: Name,
    steps: Steps,
    within_ms: Type.Integer({
      minimum: 1,
      maximum: withinMsMax,
      description: 'The most time between the first step and the last, in milliseconds.',
      examples: [3_600_000],
    }),
  },
  sampleId: sampleIdentity.funnelId,
  notFound: notFound.funnel,
  check({ steps }) {
    if (steps) readSteps(steps as string[])
  },
}

/** Notes on the time axis of charts. */
const annotations: SavedKind = {
  kind: 'annotation',
  plural: 'annotations',
  title: 'Annotation',
  article: 'an annotation',
  description: 'An annotation is a note at a time. Charts show it, for example for a deployment.',
  fields: {
    at: Type.Unsafe<string>({
      ...Timestamp,
      description: 'The time that the note is about: RFC 3339, UTC.',
      examples: ['2026-03-01T09:00:00Z'],
    }),
    text: Type.Unsafe<string>({ ...Name, description: 'The note, in one line.' }),
  },
  sampleId: sampleIdentity.annotationId,
  notFound: notFound.annotation,
  check() {},
}

export const savedKinds: readonly SavedKind[] = [segmentKind, funnels, annotations]
