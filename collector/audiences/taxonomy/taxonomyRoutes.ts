import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { type Taxonomy, taxonomies } from '../../../schemas/taxonomies.ts'
import { catalogAccess } from '../../api/access/recordAccess.ts'
import { strictObject } from '../../api/http/commonSchemas.ts'
import { notFound } from '../../api/http/errors.ts'
import { untilClosed } from '../../api/http/streaming.ts'
import type { ReadDeps } from '../../events/query/readDeps.ts'
import { readTopics } from '../signals/topics.ts'

const summary = {
  name: Type.String(),
  description: Type.String(),
  fields: Type.Array(Type.String(), { description: 'Fields that use this taxonomy.' }),
  count: Type.Integer({ description: 'How many values it has.' }),
}

const Term = Type.Object(
  {
    value: Type.String({ description: 'The value as fields contain it and filters compare it.' }),
    label: Type.String({ description: 'A label for people.' }),
    parent: Type.Optional(Type.String({ description: 'The parent value in the coarser list.' })),
  },
  { title: 'TaxonomyTerm' },
)

const config = {
  access: catalogAccess,
} as const
const tags = ['Taxonomy']

/** GET /api/v1/taxonomy and …/{name}: the lists of allowed values of fields, and topics. Never billed. */
export const taxonomyRoutes =
  ({ openQueryExecutor }: Pick<ReadDeps, 'openQueryExecutor'>): FastifyPluginAsyncTypebox =>
  async (app) => {
    const readTopicsOf = async (
      { principal }: FastifyRequest,
      reply: FastifyReply,
    ): Promise<Taxonomy> => {
      const queryExecutor = openQueryExecutor(principal, {
        effort: 'page',
        signal: untilClosed(reply),
      })
      const topics = await readTopics(queryExecutor)
      return {
        name: 'topics',
        fields: [],
        description: 'The topics of intent; parent is the broader topic.',
        terms: topics.map(({ topic, label, parent }) => ({
          value: topic,
          label,
          ...(parent && { parent }),
        })),
      }
    }

    app.get(
      '/api/v1/taxonomy',
      {
        config,
        schema: {
          tags,
          operationId: 'listTaxonomies',
          summary: 'List taxonomies',
          querystring: strictObject({}),
          description: 'Returns the lists of values for fields, and the topics of intent.',
          response: {
            200: Type.Object({
              taxonomies: Type.Array(Type.Object(summary, { title: 'Taxonomy' })),
            }),
          },
        },
      },
      async (request, reply) => ({
        taxonomies: [...taxonomies, await readTopicsOf(request, reply)].map(summaryOf),
      }),
    )

    app.get(
      '/api/v1/taxonomy/:name',
      {
        config,
        schema: {
          tags,
          operationId: 'getTaxonomy',
          summary: 'Get a taxonomy',
          querystring: strictObject({}),
          description: 'Returns the values in their natural order.',
          params: Type.Object({ name: Type.String() }),
          response: {
            200: Type.Object(
              { ...summary, values: Type.Array(Term) },
              { title: 'TaxonomyWithValues' },
            ),
          },
        },
      },
      async (request, reply) => {
        const { name } = request.params
        const taxonomy =
          name === 'topics'
            ? await readTopicsOf(request, reply)
            : taxonomies.find((candidate) => candidate.name === name)
        if (!taxonomy) throw notFound.taxonomy(name)
        return { ...summaryOf(taxonomy), values: [...taxonomy.terms] }
      },
    )
  }

const summaryOf = ({ name, description, fields, terms }: Taxonomy) => ({
  name,
  description,
  fields: [...fields],
  count: terms.length,
})
