import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const read = (path: string) =>
  readFileSync(new URL(`../../../collector/dashboard/web/${path}`, import.meta.url), 'utf8')

test('every page of the navigation has an icon, and no icon is unused', () => {
  const names = [...read('routes.ts').matchAll(/^\s+name: '([^']+)'/gm)].map(([, name]) => name!)
  const icons = [...read('icons/navigation/navigation.svg').matchAll(/<symbol id="([^"]+)"/g)]
  const idOf = (name: string) => name.toLowerCase().replaceAll(' ', '-')
  expect(icons.map(([, id]) => id).sort()).toEqual([...names, 'API documentation'].map(idOf).sort())
})
