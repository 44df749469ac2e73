import { expect, test } from 'vitest'
import { sharedCalls } from '../../../collector/platform/sharedCalls.ts'

function countedCalls() {
  const ends: ((fails?: boolean) => void)[] = []
  const share = sharedCalls<string>()
  const call = (owner: object, key: string) =>
    share(
      owner,
      key,
      () =>
        new Promise((resolve, reject) =>
          ends.push((fails) => (fails ? reject(new Error(key)) : resolve(`${key} ${ends.length}`))),
        ),
    )
  return { call, ends }
}

test('callers that ask the same while a call runs share it, later ones start another', async () => {
  const { call, ends } = countedCalls()
  const owner = {}
  const [one, other] = [call(owner, 'days'), call(owner, 'days')]
  expect(ends).toHaveLength(1)
  ends[0]!()
  expect(await Promise.all([one, other])).toEqual(['days 1', 'days 1'])
  const later = call(owner, 'days')
  expect(ends).toHaveLength(2)
  ends[1]!()
  expect(await later).toBe('days 2')
})

test('other questions and other owners have calls of their own', () => {
  const { call, ends } = countedCalls()
  const owner = {}
  void call(owner, 'days')
  void call(owner, 'hours')
  void call({}, 'days')
  expect(ends).toHaveLength(3)
})

test('a call that fails fails for all its callers, and is not kept', async () => {
  const { call, ends } = countedCalls()
  const owner = {}
  const [one, other] = [call(owner, 'days'), call(owner, 'days')]
  ends[0]!(true)
  await expect(one).rejects.toThrow('days')
  await expect(other).rejects.toThrow('days')
  void call(owner, 'days')
  expect(ends).toHaveLength(2)
})
