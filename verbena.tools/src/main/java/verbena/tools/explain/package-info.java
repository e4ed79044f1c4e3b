/// `verbena explain`: an operation is run for real, everything that happens is recorded ([Recorder], a tap around
/// the links), and the record is told as a sequence diagram ([TextDiagram], [HtmlPage], [PlantUml], [Mermaid]).
package verbena.tools.explain;
