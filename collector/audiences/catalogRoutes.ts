import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { catalogAccess } from '../api/access/recordAccess.ts'
import { Definition, tags } from './audienceSchemas.ts'
import { definitionSchema } from './definition/jsonSchema.ts'
import { templates } from './templates.ts'

const Template = Type.Object({
  template_id: Type.String(),
  name: Type.String(),
  description: Type.String(),
  definition: Definition,
})

/** Routes that are the same for all callers: the schema of definitions, and templates. */
export const catalogRoutes: FastifyPluginAsyncTypebox = async (app) => {
  const config = { access: catalogAccess }

  app.get(
    '/api/v1/audiences/schema',
    {
      config,
      schema: {
        tags,
        operationId: 'getAudienceSchema',
        summary: 'Get the JSON Schema of audience definitions',
        description: 'Returns JSON Schema (2020-12) with all fields and operators of leaves.',
        response: { 200: Type.Object({ schema: Type.Record(Type.String(), Type.Unknown()) }) },
      },
    },
    async () => ({ schema: definitionSchema }),
  )

  app.get(
    '/api/v1/audiences/templates',
    {
      config,
      schema: {
        tags,
        operationId: 'listAudienceTemplates',
        summary: 'List audience templates',
        description: 'Returns example definitions. Each matches people in the sample data.',
        response: { 200: Type.Object({ templates: Type.Array(Template) }) },
      },
    },
    async () => ({ templates: [...templates] }),
  )
}
