import { createGa4 } from './ga4.ts'
import { createMatomo } from './matomo.ts'
import type { Product, ProductOptions } from './product.ts'
import { createUmami } from './umami.ts'

/** The products whose exports of single events `footfall-server import` reads. */
export const products = {
  ga4: createGa4,
  matomo: createMatomo,
  umami: createUmami,
} satisfies Record<string, (options: ProductOptions) => Product>
export type ProductName = keyof typeof products
