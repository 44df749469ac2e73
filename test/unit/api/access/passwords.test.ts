import { beforeAll, expect, test } from 'vitest'
import { checkPassword, hashPassword } from '../../../../collector/api/access/passwords.ts'

let hash: string
beforeAll(async () => {
  hash = await hashPassword('correct horse')
  expect(await checkPassword(null, 'correct horse')).toBe(false)
})

test('a password of an account is checked before waiting ones of share links', async () => {
  const order: string[] = []
  const shares = Array.from({ length: 5 }, () =>
    checkPassword(hash, 'wrong horse', 'share').then((matches) => order.push(`share ${matches}`)),
  )
  const account = checkPassword(hash, 'correct horse').then((matches) =>
    order.push(`account ${matches}`),
  )
  await Promise.all([...shares, account])
  // The first one was already being hashed.
  expect(order).toEqual(['share false', 'account true', ...Array(4).fill('share false')])
})

test('too many waiting passwords of share links are refused, and those of accounts are not', async () => {
  // An invalid hash takes no time.
  const shares = Array.from({ length: 110 }, () => checkPassword('none', 'wrong horse', 'share'))
  const account = checkPassword(hash, 'correct horse')
  const answers = await Promise.allSettled(shares)
  const refused = answers.filter(({ status }) => status === 'rejected')
  expect(refused).toHaveLength(9)
  expect(refused[0]).toMatchObject({ reason: { status: 503, error: 'busy' } })
  expect(await account).toBe(true)
})
