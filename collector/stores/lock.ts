import { createHash } from 'node:crypto'
import { realpathSync, unlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../errors.ts'

/**
 * Makes this process the only owner of `directory` until it ends, however it ends: the lock is a listening
 * socket, which the kernel closes with its process. Rejects with StartError when another process holds it.
 */
export async function lockDirectory(directory: string): Promise<{ release(): Promise<void> }> {
  const name = createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 24)
  const path = join(tmpdir(), `footfall-${name}.sock`)
  if (await isHeld(path)) throw new StartError(`${directory} is in use by another Footfall process`)
  try {
    unlinkSync(path)
  } catch {
    // Not there: the usual case.
  }
  const server = createServer((socket) => socket.destroy())
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
  server.unref()
  return { release: () => new Promise((resolve) => server.close(() => resolve())) }
}

/** True when a process answers on the socket; a socket file nobody answers on was left by a killed process. */
const isHeld = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
