import { expect, test } from 'vitest'
import { operatorLine } from '../../../collector/platform/startError.ts'

test('a path below a file is one line with a remedy, and an error of the program is none', () => {
  const error = Object.assign(
    new Error("ENOTDIR: not a directory, scandir '/etc/passwd/backups'"),
    {
      code: 'ENOTDIR',
    },
  )
  expect(operatorLine(error)).toBe(
    "a part of the path is a file: name a directory (ENOTDIR: not a directory, scandir '/etc/passwd/backups')",
  )
  expect(operatorLine(new TypeError('x is not a function'))).toBeNull()
})
