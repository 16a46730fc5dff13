// The programs that the notebook has in variables and no workbench shows: one press shows one.

import { useEffect, useRef, useState } from "react";
import { useStore } from "../../model/hooks";
import type { InsertedCell, Offer, Transport } from "../../model/transports/transport";
import { useCellRun } from "./cell-run";

/** Finds them now and after each cell; none until the first answer. */
export function useOffers(): readonly Offer[] {
  const { offers } = useStore().transport;
  const [found, setFound] = useState<readonly Offer[]>([]);
  useEffect(() => {
    if (!offers) return;
    let current = 0;
    const look = async (): Promise<void> => {
      const asked = ++current;
      const answer = await offers.find();
      if (asked === current) setFound(answer); // cells run faster than they are asked about
    };
    void look();
    const forget = offers.onChange(() => void look());
    return () => {
      current = -1;
      forget();
    };
  }, [offers]);
  return found;
}

export function Offered(props: {
  offers: readonly Offer[];
  insertCell: NonNullable<Transport["insertCell"]>;
}): JSX.Element {
  const { runs, failure, run, forget } = useCellRun();
  const [unfinished, setUnfinished] = useState<Offer | null>(null);
  const cells = useRef(new Map<string, InsertedCell>());
  useEffect(() => {
    forget();
    setUnfinished(null);
  }, [props.offers]);

  /** Runs the cell that a press before has put in, unless it was deleted. One that misses arguments runs only then:
   * the first press leaves it to be filled in. */
  function show(offer: Offer): void {
    const before = cells.current.get(offer.cell);
    const isThere = before?.isThere() ?? false;
    const inserted = before && isThere ? before : props.insertCell(offer.cell);
    cells.current.set(offer.cell, inserted);
    const waits = offer.missing.length > 0 && !isThere;
    setUnfinished(waits ? offer : null);
    if (!waits) void run(inserted);
  }

  return (
    <>
      <div className="wbk-banner-buttons wbk-offers">
        {props.offers.map((offer, position) => (
          <button
            key={offer.name}
            className={position ? "wbk-button" : "wbk-button wbk-primary"}
            type="button"
            title={offer.cell}
            disabled={runs}
            onClick={() => show(offer)}
          >
            Show {offer.name}
            {offer.missing.length > 0 && ` (needs ${offer.missing.join(", ")}) …`}
          </button>
        ))}
      </div>
      {unfinished && (
        <p role="status">
          {unfinished.name} has no default for {unfinished.missing.join(", ")}: fill in the cell, then run it.
        </p>
      )}
      {failure && <p role="alert">{failure}</p>}
    </>
  );
}
