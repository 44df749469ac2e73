import type { FastifyRequest, RouteOptions } from 'fastify'
import { type TObject, Type } from 'typebox'
import { isUuid } from '../../../schemas/uuid.ts'
import { invalidParameter } from '../http/errors.ts'
import type { Principal } from './principal.ts'

const parts = { params: 'params', querystring: 'query', body: 'body' } as const

type Schema = RouteOptions['schema']
type Part = keyof typeof parts

const scopedPart = (schema: Schema): Part | undefined =>
  (Object.keys(parts) as Part[]).find(
    (part) =>
      (schema?.[part] as Partial<TObject> | undefined)?.properties?.project_id !== undefined,
  )

/** Whether a route accepts a project, and so the header X-Project-Id. */
export const isProjectScoped = (schema: Schema): boolean => scopedPart(schema) !== undefined

export const projectHeader = {
  'X-Project-Id': Type.Optional(
    Type.String({
      format: 'uuid',
      description:
        'The same as `project_id`. Returns 400 when the request names two different projects.',
    }),
  ),
}

/**
 * A preValidation hook that copies the header X-Project-Id to the route's `project_id`, so that routes read
 * one parameter. The header replaces the first of path, query and body that accepts a project. The body of a
 * clone may name another project as its destination. Throws 400 for an invalid UUID, or if the two values
 * differ.
 */
export async function readProjectHeader(request: FastifyRequest): Promise<void> {
  const header = request.headers['x-project-id']?.toString().toLowerCase()
  if (header === undefined) return
  if (!isUuid(header)) throw invalidParameter('X-Project-Id', `must be a UUID (got "${header}")`)
  const part = scopedPart(request.routeOptions.schema)
  const values = part && (request[parts[part]] as { project_id?: unknown } | null | undefined)
  if (typeof values !== 'object' || values === null) return
  values.project_id ??= header
  // Values other than text are refused here, because validation could convert them to another project's id.
  if (typeof values.project_id !== 'string' || values.project_id.toLowerCase() !== header)
    throw invalidParameter('project_id', 'differs from the X-Project-Id header')
}

export interface ProjectRequest {
  readonly principal: Principal
  readonly query: unknown
  readonly body?: unknown
}

/** Returns the project in the validated query or body of a request. Throws 400 if the two differ. */
export function requestedProject({
  query,
  body,
}: Pick<ProjectRequest, 'query' | 'body'>): string | undefined {
  const named = [projectIdIn(query), projectIdIn(body)].filter((id) => id !== undefined)
  if (named.some((id) => id !== named[0]))
    throw invalidParameter('project_id', 'has two different values')
  return named[0]
}

const projectIdIn = (part: unknown): string | undefined =>
  (part as { project_id?: string } | null)?.project_id
