import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A command, and the arguments that it begins with. */
export type Command = readonly [string, ...string[]]

/** Makes the Node that runs it report another version; it hands over to itself. */
const pretending = (version: string): string =>
  `if (!process.env.FOOTFALL_LAUNCHER_PID) Object.defineProperty(process.versions, 'node', { value: '${version}' })`

/** This Node, which says that it is of another version until it hands over. */
export const pretendedNode = (version: string): Command => [
  process.execPath,
  '--import',
  `data:text/javascript,${encodeURIComponent(pretending(version))}`,
]

/** A Node 20 or 21: the machine's own where it has one, else one that pretends. */
export function oldNode(): Command {
  const found = (process.env.PATH ?? '')
    .split(delimiter)
    .map((directory) => join(directory, 'node'))
    .find(
      (path) =>
        existsSync(path) && /^v2[01]\./.test(execFileSync(path, ['-v'], { encoding: 'utf8' })),
    )
  return found ? [found] : pretendedNode('20.15.0')
}

export interface Launched {
  process: ChildProcess
  /** All that it printed so far. */
  output(): string
  /** How it ended, as soon as nobody can print any more. */
  ended: Promise<{ code: number | null; signal: NodeJS.Signals | null; output: string }>
}

/** Starts a command and collects what it prints. */
export function launch(
  [command, ...args]: Command,
  { env, cwd }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
): Launched {
  const child = spawn(command, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
    ...(cwd && { cwd }),
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (output += text))
  const ended: Launched['ended'] = new Promise((resolve) =>
    child.once('close', (code, signal) => resolve({ code, signal, output: output.trim() })),
  )
  return { process: child, output: () => output, ended }
}

export const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
