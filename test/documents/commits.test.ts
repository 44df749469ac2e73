import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { packageRoot } from '../../collector/platform/paths.ts'

const types = 'build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test'
/** `type(scope): subject` of https://www.conventionalcommits.org. */
const conventional = new RegExp(`^(${types})(\\([a-z0-9, /-]+\\))?!?: \\S.*[^.\\s]$`)
const subjectCharsMax = 72

// A release without its history has no commits to check.
test.skipIf(!existsSync(join(packageRoot, '.git')))(
  'the subject of the latest commit is a Conventional Commit of at most 72 characters',
  () => {
    const log = ['log', '-1', '--first-parent', '--no-merges', '--format=%s']
    const subject = execFileSync('git', log, { cwd: packageRoot, encoding: 'utf8' }).trim()
    expect(subject).toMatch(conventional)
    expect(subject.length, subject).toBeLessThanOrEqual(subjectCharsMax)
  },
)
