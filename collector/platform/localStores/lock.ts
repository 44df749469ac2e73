import { createHash } from 'node:crypto'
import { realpathSync, unlinkSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError } from '../startError.ts'

export interface DirectoryLock {
  release(): Promise<void>
}

/** Another running process holds the directory. */
export class DirectoryInUse extends StartError {}

const retryMs = 20

/**
 * Makes this process the only owner of `directory` until the process ends. The lock is a listening socket,
 * which the kernel closes with its process. Waits up to `waitMs` for another owner, then rejects with
 * DirectoryInUse. Rejects at once with StartError if another system user owns the lock, because we can
 * neither query nor remove it.
 */
export async function lockDirectory(directory: string, waitMs: number): Promise<DirectoryLock> {
  const name = createHash('sha256').update(realpathSync(directory)).digest('hex').slice(0, 24)
  const path = join(tmpdir(), `footfall-${name}.sock`)
  const deadline = Date.now() + waitMs
  for (;;) {
    const server = createServer((socket) => socket.destroy())
    try {
      await new Promise<void>((resolve, reject) =>
        server.once('error', reject).listen(path, resolve),
      )
      server.unref()
      return { release: () => new Promise((resolve) => server.close(() => resolve())) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error
    }
    if (!(await isHeld(path, directory))) unlinkIfThere(path, directory)
    else if (Date.now() >= deadline)
      throw new DirectoryInUse(`${directory} is in use by another Footfall process`)
    else await new Promise((resolve) => setTimeout(resolve, retryMs))
  }
}

/** Error codes for a socket that another system user owns. */
const othersCodes = ['EACCES', 'EPERM']

const belongsToAnother = (path: string, directory: string) =>
  new StartError(
    `${path}, the lock of ${directory}, belongs to another user: stop the Footfall of that user, then remove the file if it remains`,
  )

function unlinkIfThere(path: string, directory: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (othersCodes.includes((error as NodeJS.ErrnoException).code!))
      throw belongsToAnother(path, directory)
    // Another process removed the file first.
  }
}

/** Whether a process answers on the socket; a killed process leaves a socket file without a listener. */
const isHeld = (path: string, directory: string): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', ({ code }: NodeJS.ErrnoException) =>
      othersCodes.includes(code!) ? reject(belongsToAnother(path, directory)) : resolve(false),
    )
  })
