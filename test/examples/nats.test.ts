/** A server of NATS accepts the shipped configuration. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

test('nats-server reads nats.conf with the variables of its first lines', async () => {
  const env = {
    ...process.env,
    NATS_NAME: 'nats1',
    NATS_PASSWORD: 'secret',
    NATS_DATA: '/tmp',
  }
  const configuration = 'examples/deploy/nats.conf'
  const { stderr } = await promisify(execFile)('nats-server', ['-t', '-c', configuration], { env })
  expect(stderr).toContain('is valid')
})
