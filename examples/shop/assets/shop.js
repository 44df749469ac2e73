/** What the shop's own pages do. Nothing in here is needed for the pixel, except where footfall() is called. */
import { drawPot, potNamed, pots } from './pots.js'

const find = (selector) => document.querySelector(selector)

const basket = {
  items: () => JSON.parse(sessionStorage.getItem('shop-basket') ?? '[]'),
  add(id) {
    sessionStorage.setItem('shop-basket', JSON.stringify([...this.items(), id]))
    this.show()
  },
  show() {
    find('[data-basket-count]').textContent = this.items().length
  },
}

function showNavigation() {
  const here = location.pathname.split('/')[2] ?? ''
  for (const link of document.querySelectorAll('.site-header nav a')) {
    if (here && link.pathname.split('/')[2] === here) link.setAttribute('aria-current', 'page')
  }
}

function showProduct() {
  const pot = potNamed(new URLSearchParams(location.search).get('item')) ?? pots[0]
  document.title = `${pot.name} · Kiln Lane`
  find('[data-product-name]').textContent = pot.name
  find('[data-product-price]').textContent = `£${pot.price}`
  find('[data-product-text]').textContent = pot.text
  drawPot(find('[data-product-pot]'), pot.id, pot.glaze)
  find('#save-for-later').setAttribute('data-footfall-prop-item', pot.id)

  find('#add-to-basket').addEventListener('click', () => {
    basket.add(pot.id)
    footfall('track', 'add_to_basket', {
      item: pot.id,
      price: pot.price,
      currency: 'GBP',
      glaze: { name: pot.glaze },
    })
    find('[data-product-answer]').textContent = `${pot.name} is in your basket.`
  })
  find('#save-for-later').addEventListener('click', () => {
    find('[data-product-answer]').textContent = `${pot.name} is saved for later.`
  })
}

function showSearch() {
  const query = new URLSearchParams(location.search).get('q')?.trim() ?? ''
  const found = pots.filter(({ name, text, glaze }) =>
    `${name} ${text} ${glaze}`.toLowerCase().includes(query.toLowerCase()),
  )
  document.title = `“${query}” · Kiln Lane`
  find('#q').value = query
  find('[data-search-title]').textContent = query ? `Pots for “${query}”` : 'Search'
  find('[data-search-count]').textContent =
    found.length === 1 ? 'One pot found' : `${found.length} pots found`
  const results = find('[data-search-results]')
  results.append(...found.map(card))
  find('[data-search-none]').hidden = found.length > 0
  // How many there are, for the pixel's search event.
  results.setAttribute('data-footfall-results', found.length)
}

function card({ id, name, price, glaze }) {
  const item = document.createElement('li')
  item.innerHTML =
    '<a class="card"><svg class="pot" viewBox="0 0 200 200" aria-hidden="true"><use/></svg><span class="card-name"></span><span class="price"></span></a>'
  item.firstChild.href = `/demo/product?item=${id}`
  drawPot(item.querySelector('svg'), id, glaze)
  item.querySelector('.card-name').textContent = name
  item.querySelector('.price').textContent = `£${price}`
  return item
}

function showBasket() {
  const items = basket.items().map(potNamed)
  find('[data-basket-empty]').hidden = items.length > 0
  for (const { name, price } of items) {
    const line = document.createElement('li')
    line.append(name, ` £${price}`)
    find('[data-basket]').append(line)
  }
}

/** A button that copies as a visitor would: by a selection, so that the page's copy event is real. */
function watchCopyButton() {
  find('#copy-code').addEventListener('click', ({ target }) => {
    getSelection().selectAllChildren(find('#discount-code'))
    target.textContent = document.execCommand('copy') ? 'Copied' : 'Press Ctrl+C'
  })
}

function watchNewsletter() {
  find('#newsletter').addEventListener('submit', (event) => {
    event.preventDefault()
    footfall('identify', { email: find('#newsletter-email').value })
    find('[data-newsletter-answer]').textContent =
      'Thank you. From now on this browser’s events are resolved.'
  })
}

function watchConsent() {
  const box = find('#consent')
  box.checked = localStorage.getItem('shop-consent') !== 'denied'
  box.addEventListener('change', () => {
    const choice = box.checked ? 'granted' : 'denied'
    localStorage.setItem('shop-consent', choice)
    footfall('consent', choice)
  })
}

showNavigation()
basket.show()
watchNewsletter()
watchConsent()
if (find('#copy-code')) watchCopyButton()
if (find('.product')) showProduct()
if (find('[data-search-results]')) showSearch()
if (find('[data-basket]')) showBasket()
