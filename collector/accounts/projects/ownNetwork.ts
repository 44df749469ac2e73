import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox'
import { Type } from 'typebox'
import { networkOf } from '../../api/access/network.ts'
import { access } from '../accountSchemas.ts'

/** GET /dashboard/network: the network that the settings of a project can ignore with one click. */
export const ownNetworkRoutes: FastifyPluginAsyncTypebox = async (app) => {
  app.get(
    '/dashboard/network',
    {
      config: { access: access.session },
      schema: {
        tags: ['Dashboard'],
        operationId: 'getOwnNetwork',
        summary: 'Get your network',
        description:
          'Returns the network that the request came from, in the form of `ignored_networks` of a project. This is an IPv4 address, or the /64 network of an IPv6 address.',
        response: { 200: Type.Object({ network: Type.String() }) },
      },
    },
    async ({ ip }) => ({ network: networkOf(ip) }),
  )
}
