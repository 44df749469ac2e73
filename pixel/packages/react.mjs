'use client'
import { useEffect } from 'react'
import { footfall, load } from './loader.mjs'

/** Loads the pixel. Put it next to your root component, or into the root layout of Next.js. */
export function Footfall({ src, nonce, integrity, consent }) {
  useEffect(() => {
    load({ src, nonce, integrity })
  }, [src, nonce, integrity])
  useEffect(() => {
    if (consent) footfall('consent', consent)
  }, [consent])
  return null
}

/** The function of the pixel: the same in every render. */
export const useFootfall = () => footfall

/** Links this browser to the signed-in person. Null: nobody is signed in. */
export function useIdentify(person) {
  const { email, hem, signature } = person ?? {}
  useEffect(() => {
    if (email) footfall('identify', { email, ...(signature && { signature }) })
    else if (hem) footfall('identify', { hem, ...(signature && { signature }) })
  }, [email, hem, signature])
}
