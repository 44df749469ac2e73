/** HAProxy and nginx as shipped, with a certificate: answers have Strict-Transport-Security. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { freeAddresses, type RunningProxy, startProxy } from './proxies.ts'

let directory: string
let certificate: string
let service: Server
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'footfall-transport-'))
  const [key, cert] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', ...subject].concat([
      '-keyout',
      key,
      '-out',
      cert,
    ]),
    { stdio: 'ignore' },
  )
  certificate = join(directory, 'both.pem')
  writeFileSync(certificate, readFileSync(cert, 'utf8') + readFileSync(key, 'utf8'))
  // The collector sends the header, too: it must not arrive twice.
  service = createServer((_request, response) =>
    response.writeHead(200, { 'strict-transport-security': 'max-age=1' }).end(),
  )
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
})
afterAll(() => {
  service?.close()
  service?.closeAllConnections()
  rmSync(directory, { recursive: true, force: true })
})

describe.each(['haproxy', 'nginx'] as const)('%s', (name) => {
  let proxy: RunningProxy
  beforeAll(async () => {
    const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
    const addresses = await freeAddresses()
    const inside = addresses.inside.replace('http:', 'https:')
    proxy = await startProxy(
      name,
      mkdtempSync(join(directory, name)),
      [url, url],
      { ...addresses, inside },
      certificate,
    )
  })
  afterAll(() => proxy?.process.kill('SIGKILL'))

  test('sends the header once by https, and not by http', async () => {
    const secured = await new Promise<string[]>((resolve, reject) => {
      const asked = request(`${proxy.inside}/`, { rejectUnauthorized: false }, (answer) => {
        answer.resume()
        resolve(answer.headersDistinct['strict-transport-security'] ?? [])
      })
      asked.on('error', reject).end()
    })
    expect(secured).toEqual(['max-age=31536000'])
    const plain = await fetch(`${proxy.world}/e`)
    expect(plain.status).toBe(200)
    expect(plain.headers.get('strict-transport-security')).not.toBe('max-age=31536000')
  })
})
