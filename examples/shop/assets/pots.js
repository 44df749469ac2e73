/** What the shop sells. */
export const pots = [
  {
    id: 'mug',
    name: 'Tall mug',
    price: 24,
    glaze: 'moss',
    text: 'Holds a third of a litre, and stays upright on a rocking desk. The handle takes three fingers.',
  },
  {
    id: 'bowl',
    name: 'Soup bowl',
    price: 32,
    glaze: 'sand',
    text: 'Deep enough for soup, wide enough for noodles, and heavy enough to keep both warm.',
  },
  {
    id: 'jug',
    name: 'Milk jug',
    price: 28,
    glaze: 'sea',
    text: 'Pours without a drip. We tried forty lips before this one.',
  },
  {
    id: 'teapot',
    name: 'Teapot',
    price: 68,
    glaze: 'sea',
    text: 'Four cups of tea. The strainer is part of the pot; the lid stays on when you pour.',
  },
  {
    id: 'vase',
    name: 'Bud vase',
    price: 36,
    glaze: 'rose',
    text: 'For a single branch, or for none: it is a pot to look at.',
  },
  {
    id: 'plate',
    name: 'Dinner plate',
    price: 30,
    glaze: 'moss',
    text: 'Twenty-six centimetres, with a rim that keeps the peas in.',
  },
]

export const glazes = ['moss', 'sand', 'sea', 'rose']

const sprite = '/demo/assets/pots.svg'

export const potNamed = (id) => pots.find((pot) => pot.id === id)

/** Shows a pot in an <svg class="pot"> that is there. */
export const drawPot = (svg, shape, glaze) => {
  svg.setAttribute('class', `pot glaze-${glaze}`)
  svg.querySelector('use').setAttribute('href', `${sprite}#${shape}`)
}
