/// One end of a link: its states, its credits, which lane is the next to send (IBTA volume 1, chapter 7).
package verbena.subnet.link;
