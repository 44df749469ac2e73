/**
 * `footfall-client` as another package uses it: by its name, with its types under `tsc --strict`, and as
 * built.
 */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Document } from '../../../../collector/api/client/document.ts'
import { operationsModule } from '../../../../collector/api/client/operationsModule.ts'
import { pythonModule } from '../../../../collector/api/client/pythonModule.ts'
import { typesModule } from '../../../../collector/api/client/typesModule.ts'
import { layOut } from '../../../../collector/ops/launch/packages.mjs'
import { packageRoot } from '../../../../collector/platform/paths.ts'
import { beaconOf, customEvent, postBeacon, readEvent } from '../../../harness/api.ts'
import type { Answering } from '../../../harness/service.ts'
import { openTenant } from '../../../harness/sharedApp.ts'

const run = promisify(execFile)

let service: Answering
const directory = mkdtempSync(join(tmpdir(), 'footfall-outside-'))
beforeAll(async () => {
  layOut('footfall-client', join(directory, 'node_modules/footfall-client'))
  service = (await openTenant()).service
})
afterAll(async () => {
  await service?.stop()
  rmSync(directory, { recursive: true, force: true })
})

const node = (args: string[], env: Record<string, string> = {}) =>
  run(process.execPath, args, { cwd: directory, env: { ...process.env, ...env } })

test('a program of another package compiles under tsc --strict, and reads pages, streams and errors', {
  timeout: 180_000,
}, async () => {
  const events = Array.from({ length: 5 }, () => customEvent())
  await postBeacon(service.url, beaconOf(service, events))
  for (const { event_id } of events) await readEvent(service, event_id)

  cpSync(join(packageRoot, 'test/api/api/client/program'), directory, { recursive: true })
  writeFileSync(join(directory, 'package.json'), '{ "type": "module" }')
  await node([join(packageRoot, 'node_modules/typescript/bin/tsc'), '-p', directory]).catch(
    (error) => {
      throw new Error(error.stdout)
    },
  )

  const { demo, url } = service
  const { stdout } = await node(['built/program.js'], {
    BASE_URL: url,
    KEY: demo.api_key,
    SECRET: demo.api_secret,
  })
  const { ids, csv, ...rest } = JSON.parse(stdout)
  expect(rest).toEqual({
    more: true,
    first: 2,
    hasNewest: true,
    pages: [2, 2, 1],
    projects: ['Demo shop'],
    errors: [
      [404, 'pixel not found'],
      [400, 'invalid_parameter'],
      [401, 'Invalid API secret'],
    ],
  })
  expect(ids.toSorted()).toEqual(events.map(({ event_id }) => event_id).toSorted())
  expect(csv).toMatch(/^"event_id","timestamp"\n/)
})

test('the example of a program in Node prints today’s events, and what is wrong with its key', async () => {
  const event = customEvent()
  await postBeacon(service.url, beaconOf(service, [event]))
  await readEvent(service, event.event_id)
  const example = join(directory, 'read-events.mjs')
  cpSync(join(packageRoot, 'examples/client/read-events.mjs'), example)
  const { api_key: KEY, api_secret: SECRET } = service.demo
  const { stdout } = await node([example, service.url], { KEY, SECRET })
  expect(stdout).toMatch(/^The newest clicks: 0, of which 0 were charged\.\n/)
  expect(stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z custom /m)
  await expect(node([example, service.url], { KEY, SECRET: 'ff' })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^401 Invalid API secret: /),
  })
})

const textOf = (file: string) => readFileSync(join(packageRoot, file), 'utf8')
const served = async () =>
  JSON.parse(await (await fetch(`${service.url}/openapi.json`)).text()) as Document

test('operations.ts shows a review what changed in the API; update it by npm run client:operations', async () => {
  expect(textOf('collector/api/client/operations.ts')).toBe(operationsModule(await served()))
})

test('the build generates, without stores, the types of the document that the service serves', async () => {
  const document = await served()
  expect(textOf('collector/api/client/api.d.ts')).toBe(typesModule(document))
  expect(textOf('examples/clients/python/footfall/operations.py')).toBe(pythonModule(document))
})
