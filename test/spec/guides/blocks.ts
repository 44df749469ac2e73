import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../../collector/platform/paths.ts'

/** A code block of a guide. */
export interface Block {
  /** "tracking.md:57". */
  place: string
  language: string
  /** The words after the language: how a test runs the block, or `no-run`. */
  marks: string[]
  code: string
}

const folder = join(packageRoot, 'collector/docs')

/** The names of all guides. */
export const guides: string[] = readdirSync(folder).toSorted()

export const readGuide = (guide: string): string => readFileSync(join(folder, guide), 'utf8')

/** All code blocks of a guide, in their order. */
export const blocksOf = (guide: string): Block[] =>
  [...readGuide(guide).matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map((found) => {
    const [, info, code] = found as unknown as [string, string, string]
    const [language = '', ...marks] = info.split(' ')
    const line = found.input.slice(0, found.index).split('\n').length
    return { place: `${guide}:${line}`, language, marks, code }
  })
