/** The document describes every 409 answer that the code of a route can throw, with its codes. */
import { beforeAll, expect, test } from 'vitest'
import { readConflicts } from '../harness/conflicts.ts'
import { type Tenants, tenantsOfWorker } from './tenants.ts'

interface Operation {
  operationId: string
  responses: Record<string, { description: string }>
}

let operations: Operation[]
let service: Tenants
beforeAll(async () => {
  service = await tenantsOfWorker()
  const { paths } = (await service.app.inject('/openapi.json')).json() as {
    paths: Record<string, Record<string, Operation>>
  }
  operations = Object.values(paths).flatMap((methods) => Object.values(methods))
})

const documented = ({ responses }: Operation): string[] => {
  const list = /^`code` is one of: ([^.]+)\./.exec(responses[409]?.description ?? '')?.[1] ?? ''
  return [...list.matchAll(/`(\w+)`/g)].map(([, code]) => code!)
}

test('every 409 that a route can throw is described, and no other', { timeout: 600_000 }, () => {
  const routes = readConflicts()
  expect(operations.length).toBeGreaterThan(150)
  for (const operation of operations) {
    const { operationId, responses } = operation
    const found = routes.filter((route) => route.operationId.test(operationId))
    expect({ operationId, routes: found.length > 0 }).toEqual({ operationId, routes: true })
    const codes = [...new Set(found.flatMap((route) => route.codes))].sort()
    expect({ operationId, codes: documented(operation).sort() }).toEqual({ operationId, codes })
    expect({ operationId, has409: 409 in responses }).toEqual({
      operationId,
      has409: codes.length > 0,
    })
  }
})
