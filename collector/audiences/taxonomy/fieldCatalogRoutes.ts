import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import {
  type Field,
  fieldNamed,
  fields,
  groups,
  isReadableAt,
  publicField,
  tiers,
} from '../../../schemas/fields.ts'
import { catalogAccess } from '../../api/access/recordAccess.ts'
import { Choice, strictObject } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { FieldDescription } from '../../api/http/rowSchemas.ts'

const CatalogQuery = strictObject({
  group: Type.Optional(Choice(groups, { description: 'Only the fields of this group.' })),
  tier: Type.Optional(
    Choice(tiers, { description: 'Only the fields that routes of this tier return.' }),
  ),
})

const CatalogField = Type.Object(
  {
    ...FieldDescription.properties,
    groupable: Type.Boolean({
      description: 'Whether breakdowns and counts can group by the field.',
    }),
  },
  { title: 'CatalogField' },
)

const catalogField = (field: Field) => ({
  ...publicField(field),
  groupable: field.counts === 'groups',
})

const config = {
  access: catalogAccess,
} as const

/** GET /api/v1/field-catalog and …/{name}: every field of any tier, with its description. Never billed. */
export const fieldCatalogRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/v1/field-catalog',
    {
      config,
      schema: {
        tags: ['Taxonomy'],
        operationId: 'listFields',
        summary: 'List the fields of events and profiles',
        description: 'Returns all fields with their meaning.',
        querystring: CatalogQuery,
        response: { 200: Type.Object({ fields: Type.Array(CatalogField) }) },
      },
    },
    async ({ query: { group, tier } }) => ({
      fields: fields
        .filter(
          (field) => (!group || field.group === group) && (!tier || isReadableAt(field, tier)),
        )
        .map(catalogField),
    }),
  )

  app.get(
    '/api/v1/field-catalog/:name',
    {
      config,
      schema: {
        tags: ['Taxonomy'],
        operationId: 'getField',
        summary: 'Get a field',
        description: 'Returns the meaning of the field and the cheapest tier that returns it.',
        params: Type.Object({ name: Type.String() }),
        response: { 200: Type.Object({ field: CatalogField }) },
      },
    },
    async ({ params: { name } }) => {
      const field = fieldNamed(name)
      if (!field) throw notFound.field(name)
      return { field: catalogField(field) }
    },
  )
}
