import { eventTypeValues } from '../../../schemas/fields/event.ts'
import { type Field, profileFields } from '../../../schemas/fields.ts'
import { valuesMax } from '../../events/query/filter/filter.ts'
import { depthMax, entities, leavesMax, withinDaysMax } from './definition.ts'
import { opsOf, valueTypeOf } from './profileOps.ts'

const ref = (name: string) => ({ $ref: `#/$defs/${name}` })

const strictObject = (properties: Record<string, unknown>, required = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const uuid = { type: 'string', format: 'uuid' }

/** JSON Schema (2020-12) of a definition. */
export const definitionSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'Audience definition',
  description: `At most ${depthMax} nodes deep and ${leavesMax} leaves.`,
  ...strictObject(
    {
      entity: { enum: entities },
      include: ref('node'),
      exclude: ref('node'),
      limit: { type: 'integer', minimum: 1 },
    },
    ['entity', 'include'],
  ),
  $defs: {
    node: {
      oneOf: [
        strictObject({ all: { type: 'array', items: ref('node'), minItems: 1 } }),
        strictObject({ any: { type: 'array', items: ref('node'), minItems: 1 } }),
        strictObject({ not: ref('node') }),
        strictObject({ profile: ref('profile') }),
        strictObject({ event: ref('event') }),
        strictObject({ intent: ref('intent') }),
        strictObject({ list: strictObject({ list_id: uuid }) }),
        strictObject({ audience: strictObject({ audience_id: uuid }) }),
      ],
    },
    event: {
      description:
        'At least this many matching events, today and on the days before (UTC). The filter has the syntax of the events API.',
      ...strictObject(
        {
          event_type: { enum: eventTypeValues },
          filter: { type: 'string', examples: ['page_path:like:/pricing%,is_bot:eq:false'] },
          at_least: { type: 'integer', minimum: 1, default: 1 },
          within_days: { type: 'integer', minimum: 1, maximum: withinDaysMax },
          pixel_id: uuid,
        },
        ['within_days'],
      ),
    },
    intent: {
      description:
        'Interest in any or all of these topics within intent_window_days, each with at least this score.',
      ...strictObject(
        {
          topics: {
            type: 'array',
            items: { type: 'string' },
            minItems: 1,
            maxItems: 25,
            uniqueItems: true,
          },
          match: { enum: ['any', 'all'], default: 'any' },
          min_score: { type: 'integer', minimum: 0, maximum: 100, default: 0 },
        },
        ['topics'],
      ),
    },
    profile: { oneOf: profileFields.flatMap(leavesOfField) },
  },
}

function leavesOfField(field: Field) {
  const ops = opsOf(field)
  const value = {
    type: valueTypeOf(field),
    ...(field.dataType === 'Timestamp' && { format: 'date-time' }),
  }
  const exact = field.values ? { enum: field.values } : value
  const leaf = (some: readonly string[], compared: object) => {
    const commonOps = ops.filter((op) => some.includes(op))
    if (commonOps.length === 0) return []
    return [
      {
        ...strictObject({ field: { const: field.name }, op: { enum: commonOps }, value: compared }),
        description: field.description,
      },
    ]
  }
  return [
    ...leaf(['eq', 'ne'], exact),
    ...leaf(['gt', 'gte', 'lt', 'lte', 'like'], value),
    ...leaf(['in'], { type: 'array', items: exact, minItems: 1, maxItems: valuesMax }),
    ...leaf(['between'], { type: 'array', items: value, minItems: 2, maxItems: 2 }),
    ...leaf(['is_set'], { type: 'boolean' }),
  ]
}
