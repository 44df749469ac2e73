import { Link } from '../router.tsx'
import type { Place } from '../routes.ts'

/** The places of the navigation that have a name, as links; the one that is shown is marked. */
export function NavLinks({
  places,
  others = [],
  address,
  path,
  search = '',
}: {
  places: readonly Place[]
  /** Places of the same navigation that are listed elsewhere. */
  others?: readonly Place[]
  address(place: Place): string
  path: string
  /** The query that places with a view are shown with. */
  search?: string
}) {
  const named = places.filter(({ name }) => name !== undefined)
  const current = bestOf([...named, ...others.filter(({ name }) => name)].map(address), path)
  return (
    <>
      {named.map((place) => {
        const href = address(place)
        return (
          <li key={href}>
            <Link
              href={place.hasView ? href + search : href}
              aria-current={href === current ? (href === path ? 'page' : 'true') : undefined}
            >
              {place.name}
            </Link>
          </li>
        )
      })}
    </>
  )
}

/** The address that leads nearest to where the reader is: that of a project itself is part of all of its pages'. */
const bestOf = (addresses: string[], path: string): string | undefined =>
  addresses
    .filter((href) => path === href || path.startsWith(`${href}/`))
    .sort((one, other) => other.length - one.length)[0]
