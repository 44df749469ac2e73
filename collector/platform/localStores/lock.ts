import { createHash } from 'node:crypto'
import { realpathSync, unlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../startError.ts'

export interface DirectoryLock {
  release(): Promise<void>
}

const retryMs = 20

/**
 * Makes this process the only owner of `directory` until it ends, however it ends: the lock is a listening
 * socket, which the kernel closes with its process. While another process holds it, waits for at most `waitMs`,
 * then rejects with StartError.
 */
export async function lockDirectory(directory: string, waitMs: number): Promise<DirectoryLock> {
  const name = createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 24)
  const path = join(tmpdir(), `footfall-${name}.sock`)
  const deadline = Date.now() + waitMs
  for (;;) {
    const server = createServer((socket) => socket.destroy())
    try {
      await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve))
      server.unref()
      return { release: () => new Promise((resolve) => server.close(() => resolve())) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
    if (!(await isHeld(path))) unlinkIfThere(path)
    else if (Date.now() >= deadline)
      throw new StartError(`${directory} is in use by another Footfall process`)
    else await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

function unlinkIfThere(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    // Another process was faster.
  }
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
