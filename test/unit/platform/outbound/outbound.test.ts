import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openOutbound } from '../../../../collector/platform/outbound/outbound.ts'
import { startNameServer } from './nameServer.ts'

let server: Server
let port: number
let requests: string[] = []
beforeAll(async () => {
  server = createServer((request, response) => {
    requests.push(`${request.method} ${request.headers.host}${request.url}`)
    if (request.url === '/hang') return
    if (request.url === '/redirect') {
      response
        .writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' })
        .end('elsewhere')
    } else if (request.url === '/long') response.end('x'.repeat(5_000))
    else if (request.url === '/broken') {
      response.writeHead(200, { 'content-length': '100' }).write('only this')
      setTimeout(() => response.destroy(), 20)
    } else if (request.url === '/drips') {
      response.writeHead(200).write('first')
    } else response.end('good')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const local = openOutbound({ allow: ['127.0.0.1'] })
const get = (path: string, more: object = {}) =>
  local.send({ method: 'GET', url: `http://127.0.0.1:${port}${path}`, ...more })

describe('an answer', () => {
  test('comes with its status, headers and body', async () => {
    expect(await get('/')).toMatchObject({ status: 200, body: Buffer.from('good'), isWhole: true })
  })

  test('that sends elsewhere is an answer like others', async () => {
    requests = []
    expect(await get('/redirect')).toMatchObject({ status: 302, body: Buffer.from('elsewhere') })
    expect(requests).toHaveLength(1)
  })

  test('that does not come leaves the request sent, whatever ended the connection', async () => {
    requests = []
    const aborter = new AbortController()
    const hanging = get('/hang', { signal: aborter.signal })
    await expect.poll(() => requests).toHaveLength(1)
    aborter.abort()
    await expect(hanging).rejects.toMatchObject({ isUnsent: false })
  })

  test('that is too long, broken off or slow is an error, or in part where a part serves', async () => {
    const part = { responseBytesMax: 1_000, takesPart: true }
    await expect(get('/long', { responseBytesMax: 1_000 })).rejects.toMatchObject({
      code: 'response_too_large',
    })
    expect((await get('/long', part)).body).toHaveLength(1_000)
    await expect(get('/broken')).rejects.toMatchObject({ code: 'connection_closed' })
    expect(await get('/broken', part)).toMatchObject({
      body: Buffer.from('only this'),
      isWhole: false,
    })
    await expect(get('/drips', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'timed_out' })
    expect(await get('/drips', { ...part, timeoutMs: 200 })).toMatchObject({
      status: 200,
      body: Buffer.from('first'),
    })
  })

  test('that never comes is timed out', async () => {
    await expect(get('/hang', { timeoutMs: 100 })).rejects.toMatchObject({ code: 'timed_out' })
  })

  test('of a server that is gone, closes at once or speaks something else is an error without its address', async () => {
    const closing = createTcpServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => closing.listen(0, '127.0.0.1', resolve))
    const url = `http://localhost:${(closing.address() as AddressInfo).port}/`
    const byName = openOutbound({ allow: ['localhost'] })
    await expect(byName.send({ method: 'GET', url })).rejects.toMatchObject({
      code: 'connection_closed',
    })
    await new Promise((resolve) => closing.close(resolve))
    await expect(byName.send({ method: 'GET', url })).rejects.toMatchObject({
      code: 'connection_failed',
      message: expect.not.stringContaining('127.0.0.1'),
    })
    const asTls = byName.send({ method: 'GET', url: `https://localhost:${port}/` })
    await expect(asTls).rejects.toMatchObject({ name: 'OutboundError' })
  })
})

describe('inside the network', () => {
  const strict = openOutbound({ allow: [] })

  test.each([
    '127.0.0.1',
    '[::1]',
    '169.254.169.254',
    '10.0.0.1',
    '2130706433',
    '0177.0.0.1',
    '0x7f.1',
    '127.1',
    '127.0.0.1.',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[fd00:ec2::254]',
    '0.0.0.0',
  ])('%s is not asked', async (host) => {
    requests = []
    const url = `http://${host}:${port}/`
    await expect(strict.send({ method: 'GET', url })).rejects.toMatchObject({
      code: 'address_refused',
    })
    await expect(strict.check(url)).rejects.toMatchObject({ code: 'address_refused' })
    expect(requests).toEqual([])
  })

  test.each([
    'ftp://hooks.example/',
    'file:///etc/passwd',
    'https://user:secret@hooks.example/',
    'hooks',
    '',
  ])('"%s" is not taken', async (url) => {
    await expect(strict.check(url)).rejects.toMatchObject({ code: 'address_refused' })
    await expect(strict.send({ method: 'GET', url })).rejects.toMatchObject({
      code: 'address_refused',
    })
  })

  test('a name that leads there is not asked, one without an address may be kept', async () => {
    const names = await startNameServer((host) => (host === 'inside.example' ? '127.0.0.1' : null))
    const outbound = openOutbound({ allow: [], nameServers: [names.server] })
    requests = []
    const url = `http://inside.example:${port}/`
    await expect(outbound.check(url)).rejects.toMatchObject({
      code: 'address_refused',
      message: 'inside.example is not on the public Internet.',
    })
    await expect(outbound.send({ method: 'POST', url, body: 'x' })).rejects.toMatchObject({
      code: 'address_refused',
    })
    await outbound.check('https://nowhere.example/')
    await expect(
      outbound.send({ method: 'GET', url: 'https://nowhere.example/' }),
    ).rejects.toMatchObject({
      code: 'not_resolved',
    })
    expect(requests).toEqual([])
    await names.close()
  })

  test('a name server that answers otherwise after the check moves nothing', async () => {
    let asked = 0
    const names = await startNameServer(() => (++asked === 1 ? '127.0.0.1' : '127.0.0.2'))
    const outbound = openOutbound({ allow: ['127.0.0.1'], nameServers: [names.server] })
    requests = []
    const url = `http://rebinds.example:${port}/`
    expect(await outbound.send({ method: 'GET', url })).toMatchObject({ status: 200 })
    expect(asked).toBe(1)
    // The second answer leads elsewhere: it is checked like the first.
    await expect(outbound.send({ method: 'GET', url })).rejects.toMatchObject({
      code: 'address_refused',
    })
    expect(requests).toEqual([`GET rebinds.example:${port}/`])
    await names.close()
  })
})
