import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { packageRoot } from '../../../collector/platform/paths.ts'
import { readGuide } from './blocks.ts'

const run = promisify(execFile)
const launcher = join(packageRoot, 'collector/ops/launch/footfall.mjs')

/** Every `npx footfall-server …` of a guide, in blocks and in the text, once. */
export const commandsOf = (guide: string): string[] => [
  ...new Set(
    [...readGuide(guide).matchAll(/npx footfall-server ([^\n`#]*)/g)].map(([, words]) =>
      words!.trim(),
    ),
  ),
]

const help = async (path: string[]): Promise<string> =>
  (await run(process.execPath, [launcher, ...path, '--help'])).stdout

/** The fault of a command: it does not exist, or does not accept these arguments or options. */
export async function troubleWith(command: string): Promise<string | null> {
  const words = [...command.matchAll(/"[^"]*"|'[^']*'|\S+/g)].map(([word]) => word)
  const options = words.filter((word) => word.startsWith('--'))
  const path = words.slice(0, 2).filter((word) => /^[a-z][a-z0-9-]*$/.test(word))
  let text = await help(path)
  // The second word may be an argument.
  if (path.length === 2 && !text.includes(`Usage: footfall-server ${path.join(' ')} `)) path.pop()
  text = await help(path)
  const usage = /^Usage: (.*)$/m.exec(text)?.[1] ?? ''
  if (!`${usage} `.startsWith(`footfall-server ${path.join(' ')}${path.length > 0 ? ' ' : ''}`))
    return `${command}: no such command`
  const unknown = options.find((option) => !text.includes(option))
  if (unknown) return `${command}: no option ${unknown}`
  const valued = options.filter((option) => new RegExp(`${option} <`).test(text)).length
  const given = words.length - path.length - options.length - valued
  const required = usage.match(/<[^>]+>/g)?.length ?? 0
  const optional = usage.replace('[options]', '').match(/\[[^\]]+\]/g)?.length ?? 0
  const accepts = usage.includes('...') || (given >= required && given <= required + optional)
  // A sentence may name a command without its arguments.
  return accepts || given === 0 ? null : `${command}: takes ${usage}`
}
