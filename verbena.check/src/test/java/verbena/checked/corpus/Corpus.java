package verbena.checked.corpus;

import java.util.List;

/// All programs.
final class Corpus {
    static final List<Program> PROGRAMS = List.of(
            new SendChanged(),
            new WriteChanged(),
            new UnsignaledChanged(),
            new CounterInBuffer(),
            new SecondPieceChanged(),
            new EchoFromReceive(),
            new OneBufferForBoth(),
            new ReadForwarded(),
            new CopyByReadAndWrite(),
            new TicketWritten(),
            new TwoReceivesOneBuffer(),
            new SlotsOverlap(),
            new TwoReadsOneTarget(),
            new AtomicResultsShared(),
            new ArenaBeforeRegion(),
            new SendFromClosedArena(),
            new RegionClosedEarly(),
            new ReceiveRegionClosed(),
            new RemoteRegionClosed(),
            new KeyOfClosedRegion(),
            new DatagramReceiveShort(),
            new RnrLimited(),
            new ReceiveAfterSend(),
            new ImmediateWithoutReceive(),
            new SmallQueueForReceives(),
            new NothingSignaled(),
            new ArmedAndNotPolled(),
            new StatusIgnored(),
            new ReadDepthTooLarge(),
            new PsnMistaken(),
            new MtuMistaken(),
            new TimeoutZero(),
            new NoRetries(),
            new ClosedAfterPost(),
            new ResetAfterPost(),
            new CounterWritten(),
            new DoorbellForEach(),
            new EachSignaled(),
            new ShortNotInline(),
            new RegisteredForEach(),
            new ManySmallRegions(),
            new QueueLeaked());

    private Corpus() {}
}
