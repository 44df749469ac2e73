import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { readConfig } from '../../../../collector/config.ts'
import {
  createSecretBox,
  openSecretBox,
} from '../../../../collector/platform/outbound/secretBox.ts'
import { newWebhookSecret, signMessage } from '../../../../collector/platform/outbound/signature.ts'

const [older, newer] = [randomBytes(32), randomBytes(32)]

test('what is sealed is opened for its purpose alone, and not when it was changed', () => {
  const { seal, open } = createSecretBox([newer])
  const sealed = seal('whsec_ü', 'webhook:1')
  expect(open(sealed, 'webhook:1')).toBe('whsec_ü')
  expect(seal('whsec_ü', 'webhook:1')).not.toBe(sealed)
  expect(() => open(sealed, 'webhook:2')).toThrow()
  const at = sealed.length - 3
  const changed = sealed.slice(0, at) + (sealed[at] === 'A' ? 'B' : 'A') + sealed.slice(at + 1)
  expect(() => open(changed, 'webhook:1')).toThrow()
  expect(() => open(sealed.slice(0, -8), 'webhook:1')).toThrow()
})

test('an earlier key opens what it sealed; one that is gone is named, and not shown', () => {
  const sealed = createSecretBox([older]).seal('secret', 'x')
  const both = createSecretBox([newer, older])
  expect(both.open(sealed, 'x')).toBe('secret')
  expect(createSecretBox([newer]).open(both.seal('secret', 'x'), 'x')).toBe('secret')
  expect(() => createSecretBox([newer]).open(sealed, 'x')).toThrow(
    /^a secret was encrypted with the key [0-9a-f]{8},/,
  )
})

test('a service on a local PostgreSQL makes its key once, another has to be given one', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'footfall-test-'))
  const config = readConfig({ FOOTFALL_DATA_DIR: dataDir })
  const sealed = openSecretBox(config).seal('secret', 'x')
  expect(openSecretBox(config).open(sealed, 'x')).toBe('secret')
  expect(statSync(join(dataDir, 'secret_key')).mode & 0o777).toBe(0o600)
  const key = readFileSync(join(dataDir, 'secret_key'), 'utf8')
  const shared = { FOOTFALL_DATA_DIR: dataDir, DATABASE_URL: 'postgres://127.0.0.1/x' }
  expect(() => openSecretBox(readConfig(shared)).seal('secret', 'x')).toThrow('FOOTFALL_SECRET_KEY')
  expect(openSecretBox(readConfig({ ...shared, FOOTFALL_SECRET_KEY: key })).open(sealed, 'x')).toBe(
    'secret',
  )
  expect(() => readConfig({ FOOTFALL_SECRET_KEY: 'short' })).toThrow(/32 bytes/)
  expect(() => readConfig({ FOOTFALL_OUTBOUND_ALLOW: '10.0.0.0/8, a b' })).toThrow(/"a b"/)
  rmSync(dataDir, { recursive: true })
})

test('a message is signed as the library of Standard Webhooks checks it, with each of two secrets', () => {
  const [before, after] = [newWebhookSecret(), newWebhookSecret()]
  const message = {
    id: 'msg_1',
    // The last millisecond of a second: the header names whole seconds.
    nowMs: Math.floor(Date.now() / 1_000) * 1_000 + 999,
    body: '{"type":"audience.built","data":{"name":"Größe"}}',
  }
  const headers = signMessage([after, before], message)
  for (const secret of [before, after]) {
    expect(new Webhook(secret).verify(message.body, headers)).toEqual(JSON.parse(message.body))
    expect(() => new Webhook(secret).verify(message.body.replace('Größe', 'x'), headers)).toThrow()
    expect(() =>
      new Webhook(secret).verify(message.body, { ...headers, 'webhook-id': 'msg_2' }),
    ).toThrow()
    const old = signMessage([secret], { ...message, nowMs: Date.now() - 600_000 })
    expect(() => new Webhook(secret).verify(message.body, old)).toThrow()
  }
  expect(() => new Webhook(newWebhookSecret()).verify(message.body, headers)).toThrow()
})
