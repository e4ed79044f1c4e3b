/// A card from inside: experiments on its model, a card of one's own, and a program on it.
package verbena.tools.card;
