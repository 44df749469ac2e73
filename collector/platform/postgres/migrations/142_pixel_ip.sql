-- New pixels truncate addresses (schemas/beacon.ts); existing pixels keep their behavior.
UPDATE pixels SET settings = settings || '{"ip": "full"}' WHERE NOT settings ? 'ip';
