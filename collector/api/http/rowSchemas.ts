import { type TSchema, Type } from 'typebox'
import type { DataType, Field } from '../../../schemas/fields.ts'
import { Nullable } from './commonSchemas.ts'

type Options = { description?: string }
const valueTypes: Record<DataType, (options?: Options) => TSchema> = {
  Utf8: (options) => Type.String({ ...options }),
  Int64: (options) => Type.Integer({ format: 'int64', ...options }),
  Float64: (options) => Type.Number({ ...options }),
  Boolean: (options) => Type.Boolean({ ...options }),
  Timestamp: (options) => Type.String({ format: 'date-time', ...options }),
}

const memberOf = ({ name, dataType, nullable, description }: Field): readonly [string, TSchema] => {
  const typed = valueTypes[dataType]
  return [name, nullable ? Nullable(typed(), { description }) : typed({ description })]
}

/** Returns the schema of a row that always has all these fields. */
export const wholeRow = (title: string, fields: readonly Field[]) =>
  Type.Object(Object.fromEntries(fields.map(memberOf)), { title })

interface Rows {
  /** Title of the schema with all fields. A selected row is `Selected…`. */
  title: string
  fields: readonly Field[]
  /** Fields that every row has without `select`; other fields are optional. */
  always: readonly Field[]
  description: string
}

/** A row of routes with `select`: all fields, or the selected ones. */
export function selectableRow({ title, fields, always, description }: Rows) {
  const members = fields.map(memberOf).map(([name, value]) => [name, Type.Optional(value)] as const)
  const selected = Type.Object(Object.fromEntries(members), {
    title: `Selected${title}`,
    description: 'With `select`: the selected fields.',
    minProperties: 1,
  })
  const whole = { title, description, required: always.map(({ name }) => name) }
  return Type.Union([Type.Intersect([selected], whole), selected])
}

export const FieldDescription = Type.Object(
  {
    name: Type.String(),
    data_type: Type.String({ description: 'Utf8, Int64, Float64, Boolean or Timestamp.' }),
    nullable: Type.Boolean(),
    tier: Type.String({ description: 'The cheapest tier whose routes return it.' }),
    group: Type.String(),
    description: Type.String(),
    only_when_named: Type.Optional(
      Type.Boolean({
        description:
          'True for fields that are computed only if a request names them in select, filter or distinct.',
      }),
    ),
    values: Type.Optional(
      Type.Array(Type.String(), {
        description: 'All possible values, if the field has a fixed list.',
      }),
    ),
  },
  { title: 'Field' },
)
