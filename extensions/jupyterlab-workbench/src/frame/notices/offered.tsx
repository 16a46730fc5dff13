// The programs that the notebook has in variables and no workbench shows: one press shows one.

import { useEffect, useState } from "react";
import { useStore } from "../../model/hooks";
import type { Offer, Transport } from "../../model/transports/transport";
import { useCellRun } from "./cell-run";

/** Finds them now and after each cell; null until the first answer. */
export function useOffers(): readonly Offer[] | null {
  const { offers } = useStore().transport;
  const [found, setFound] = useState<readonly Offer[] | null>(offers ? null : []);
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
  const { runs, failure, run } = useCellRun();
  return (
    <>
      <div className="wbk-banner-buttons wbk-offers">
        {props.offers.map(({ name, cell }, position) => (
          <button
            key={name}
            className={position ? "wbk-button" : "wbk-button wbk-primary"}
            type="button"
            title={cell}
            disabled={runs}
            onClick={() => void run(props.insertCell(cell))}
          >
            Show {name}
          </button>
        ))}
      </div>
      {failure && <p role="alert">{failure}</p>}
    </>
  );
}
