import { expect, it } from 'vitest'
import { usePixel } from './harness.ts'

const pixel = usePixel()

it('a form submission names its fields, never a value', async () => {
  await pixel.visit({
    body: `<form id="join" name="joining" method="POST" action="/join" onsubmit="return false">
      <input name="email" value="ann@x.org"><input name="action" value="shadow"><input name="elements">
      <input type="radio" name="plan" value="a" checked><input type="radio" name="plan" value="b">
      <input type="password" name="password" value="hunter2"><input type="hidden" name="csrf" value="token9">
      <input name="card" autocomplete="cc-number" value="4242"><select name="country"><option>NL</select>
      <input name="quiet" data-footfall-ignore value="hush"><button>Join</button></form>
      <input form="join" name="outside" value="apart">`,
  })
  await pixel.page.click('button')
  const [submission] = await pixel.events('form_submission', 1)
  expect(submission).toMatchObject({
    form: {
      id: 'join',
      name: 'joining',
      action: `${pixel.receiver.pageOrigin}/join`,
      method: 'post',
    },
    fields: ['email', 'action', 'elements', 'plan', 'country', 'outside'],
  })
  const sent = JSON.stringify(pixel.receiver.state.received)
  for (const value of ['ann@x.org', 'hunter2', 'token9', '4242', 'hush', 'apart', 'shadow']) {
    expect(sent).not.toContain(value)
  }
})

it('a search form that leads to a results page counts once, with the number of results', async () => {
  pixel.put({ path: '/found', body: '<p data-footfall-results="12">12 results</p>' })
  await pixel.visit({ body: '<form action="/found"><input type="search" name="q"></form>' })
  await pixel.page.fill('input', ' red shoes ')
  await pixel.page.press('input', 'Enter')
  const searches = await pixel.events('search', 1)
  await pixel.settled()
  await pixel.events('search', 1)
  expect(searches[0]).toMatchObject({ query: 'red shoes', results_count: 12 })
  expect(new URL(searches[0]!.url).pathname).toBe('/found')
})

it.each([
  ['at once', "history.pushState({}, '', '?q=two')"],
  ['later', "setTimeout(() => history.pushState({}, '', '?q=two'), 100)"],
  ['much later', "setTimeout(() => history.pushState({}, '', '?q=two'), 1500)"],
])('a search form whose page shows the search in the URL %s counts once', async (_when, follow) => {
  await pixel.visit({
    body: `<form onsubmit="${follow}; return false"><input name="q" value="two"><button>Search</button></form>`,
  })
  await pixel.page.click('button')
  await pixel.page.waitForURL('**/page?q=two')
  await pixel.events('page_view', 2)
  await pixel.settled()
  const [search] = await pixel.events('search', 1)
  expect(search).toMatchObject({ query: 'two', results_count: null })
})

it('a search form the page handles itself counts once, whether or not the URL follows', async () => {
  await pixel.visit({
    body: `<form id="ajax" onsubmit="return false"><input name="q" value="one"><button>1</button></form>
      <form id="spa" onsubmit="history.pushState({}, '', '?q=two'); return false">
        <input name="q" value="two"><button>2</button></form>
      <form id="post" method="post" onsubmit="return false">
        <input type="search" name="words" value="three"><button>3</button></form>`,
  })
  for (const id of ['ajax', 'spa', 'post']) await pixel.page.click(`#${id} button`)
  const searches = await pixel.events('search', 3)
  // A search that the URL shows waits for the URL to rest.
  expect(searches.map(({ query, results_count }) => [query, results_count]).sort()).toEqual([
    ['one', null],
    ['three', null],
    ['two', null],
  ])
  await pixel.settled()
  await pixel.events('search', 3)
})
