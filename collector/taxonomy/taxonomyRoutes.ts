import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { type Taxonomy, taxonomies } from '../../schemas/taxonomies.ts'
import { notFound } from '../http/errors.ts'
import { exactly } from '../http/schemas.ts'

const summary = {
  name: Type.String(),
  description: Type.String(),
  fields: Type.Array(Type.String(), { description: 'The fields that hold these values.' }),
  count: Type.Integer({ description: 'How many values it has.' }),
}

const Term = Type.Object(
  {
    value: Type.String({ description: 'As fields hold it and filters compare it.' }),
    label: Type.String({ description: 'For people.' }),
    parent: Type.Optional(
      Type.String({ description: 'The value of the coarser list that it is a part of.' }),
    ),
  },
  { title: 'TaxonomyTerm' },
)

const config = {
  access: { to: 'key', projectKeys: 'as organization', keyRole: 'read', limit: 'data' },
} as const
const tags = ['Taxonomy']

/** GET /api/v1/taxonomy and …/{name}: the lists of values that fields choose from. Never billed. */
export const taxonomyRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/api/v1/taxonomy',
    {
      config,
      schema: {
        ...{ tags, operationId: 'listTaxonomies', summary: 'List taxonomies', querystring: exactly({}) },
        description: 'The lists of values that fields choose from.',
        response: {
          200: Type.Object({ taxonomies: Type.Array(Type.Object(summary, { title: 'Taxonomy' })) }),
        },
      },
    },
    async () => ({ taxonomies: taxonomies.map(summaryOf) }),
  )

  app.get(
    '/api/v1/taxonomy/:name',
    {
      config,
      schema: {
        ...{
          tags,
          operationId: 'getTaxonomy',
          summary: 'Get a taxonomy with its values',
          querystring: exactly({}),
        },
        description: 'In their natural order.',
        params: Type.Object({ name: Type.String() }),
        response: {
          200: Type.Object({ ...summary, values: Type.Array(Term) }, { title: 'TaxonomyWithValues' }),
        },
      },
    },
    async ({ params: { name } }) => {
      const taxonomy = taxonomies.find((candidate) => candidate.name === name)
      if (!taxonomy) throw notFound.taxonomy(name)
      return { ...summaryOf(taxonomy), values: [...taxonomy.terms] }
    },
  )
}

const summaryOf = ({ name, description, fields, terms }: Taxonomy) => ({
  ...{ name, description, fields: [...fields], count: terms.length },
})
