import { execFileSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const diskMiB = 48
const ballastEveryMs = 5

/** Why this process cannot mount a disk; null when it can. */
export function mountRefusal(): string | null {
  const directory = mkdtempSync(join(tmpdir(), 'footfall-mount-'))
  try {
    mountDisk(directory)()
    return null
  } catch (error) {
    return `a tmpfs cannot be mounted here: ${(error as Error).message.trim()}`
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}

/** Fills the disk with a file, and fills it again whenever something else gave room back. */
export function fillDisk(ballast: string): { remove(): void } {
  const fd = openSync(ballast, 'wx')
  const chunks = [1024 ** 2, 64 * 1024, 4 * 1024].map((bytes) => Buffer.alloc(bytes))
  const fill = () => {
    for (const chunk of chunks) while (writes(fd, chunk));
  }
  fill()
  const timer = setInterval(fill, ballastEveryMs)
  return {
    remove() {
      clearInterval(timer)
      closeSync(fd)
      rmSync(ballast)
    },
  }
}

function writes(fd: number, chunk: Buffer): boolean {
  try {
    return writeSync(fd, chunk) === chunk.length
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false
    throw error
  }
}

/** Mounts a small disk of its own; what unmounts it. Needs to be root on Linux: see `mountRefusal`. */
export function mountDisk(directory: string): () => void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${diskMiB}m`, 'tmpfs', directory], {
    stdio: 'pipe',
  })
  return () => void execFileSync('umount', ['--lazy', directory])
}
