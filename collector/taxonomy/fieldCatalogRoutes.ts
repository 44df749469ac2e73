import type { FastifyPluginAsync } from 'fastify'
import Type from 'typebox'
import type { Group } from '../../schemas/fields.ts'
import {
  fieldNamed,
  fields,
  groups,
  isReadableAt,
  publicField,
  type Tier,
  tiers,
} from '../../schemas/fields.ts'
import { notFound } from '../http/errors.ts'

const oneOf = <T extends string>(values: readonly T[], description: string) =>
  Type.Optional(
    Type.Union(
      values.map((value) => Type.Literal(value)),
      { description },
    ),
  )

const catalogQuery = Type.Object(
  {
    group: oneOf(groups, 'Only the fields of this group.'),
    tier: oneOf(tiers, 'Only the fields that routes of this tier return.'),
  },
  { additionalProperties: false },
)

const shownField = Type.Object(
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
          'True of fields that are computed where a request names them, in select, filter or distinct.',
      }),
    ),
    values: Type.Optional(
      Type.Array(Type.String(), { description: 'All that it may hold, where that is a fixed list.' }),
    ),
  },
  { title: 'Field' },
)

const config = {
  access: { to: 'key', projectKeys: 'as organization', keyRole: 'read', limit: 'data' },
} as const

/** GET /api/v1/field-catalog and …/{name}: every field that any tier returns, and what it means. Never billed. */
export const fieldCatalogRoutes: FastifyPluginAsync = async (app) => {
  app.get<{ Querystring: { group?: Group; tier?: Tier } }>(
    '/api/v1/field-catalog',
    {
      config,
      schema: {
        tags: ['Taxonomy'],
        operationId: 'listFields',
        summary: 'List the fields of events and profiles',
        querystring: catalogQuery,
        response: { 200: Type.Object({ fields: Type.Array(shownField) }) },
      },
    },
    async ({ query: { group, tier } }) => ({
      fields: fields
        .filter((field) => (!group || field.group === group) && (!tier || isReadableAt(field, tier)))
        .map(publicField),
    }),
  )

  app.get<{ Params: { name: string } }>(
    '/api/v1/field-catalog/:name',
    {
      config,
      schema: {
        tags: ['Taxonomy'],
        operationId: 'getField',
        summary: 'Get a field',
        params: Type.Object({ name: Type.String() }),
        response: { 200: Type.Object({ field: shownField }) },
      },
    },
    async ({ params: { name } }) => {
      const field = fieldNamed(name)
      if (!field) throw notFound.field(name)
      return { field: publicField(field) }
    },
  )
}
