import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { format } from 'node:util'
import { vi } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'
import { printable } from '../../collector/platform/printable.ts'
import { operatorLine } from '../../collector/platform/startError.ts'

export const cli = join(packageRoot, 'dist/collector/cli.js')

/** Result of a command. */
export interface Ended {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Runs the code of a command in this process, in a directory, and prints its errors as the command line does. A process of
 * its own (`runCommandLine`) takes half a second more.
 */
export async function runCommand(directory: string, run: () => Promise<void>): Promise<Ended> {
  const ended: Ended = { code: 0, stdout: '', stderr: '' }
  const spies = [
    vi.spyOn(console, 'log').mockImplementation((...said) => {
      ended.stdout += `${format(...said)}\n`
    }),
    vi.spyOn(console, 'error').mockImplementation((...said) => {
      ended.stderr += `${format(...said)}\n`
    }),
  ]
  const before = process.cwd()
  process.chdir(directory)
  try {
    await run()
  } catch (error) {
    const line = operatorLine(error as Error)
    if (line === null) throw error
    console.error(`footfall: ${printable(line)}`)
    ended.code = 1
  } finally {
    process.chdir(before)
    for (const spy of spies) spy.mockRestore()
  }
  return ended
}

/** Runs `npx footfall-server …` as an operator would; the settings are added to those of this process. */
export const runCommandLine = (
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { cwd, stdin }: { cwd?: string; stdin?: Buffer | undefined } = {},
): Promise<Ended> =>
  new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [cli, ...args],
      { cwd, env: { ...process.env, ...env } },
      (error, stdout, stderr) => resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
    )
    child.stdin!.end(stdin)
  })

/** Runs a command next to the service of a data directory. Its code, and all that it printed. */
export async function runNextTo(
  dataDir: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string }> {
  const ended = await runCommandLine(args, { ...env, FOOTFALL_DATA_DIR: dataDir })
  return { code: ended.code, output: ended.stdout + ended.stderr }
}
