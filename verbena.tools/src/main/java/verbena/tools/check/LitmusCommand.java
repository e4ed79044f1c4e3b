package verbena.tools.check;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import verbena.check.litmus.Litmus;
import verbena.check.litmus.Litmuses;
import verbena.check.litmus.Profile;
import verbena.tools.kit.CommandFailed;
import verbena.tools.kit.ToolCommand;
import verbena.tools.report.Json;
import verbena.verbs.Device;

/// `verbena check litmus`: small programs, how they can end, and how they do end on a device.
@Command(
        name = "litmus",
        header = "Explain small programs whose end is a surprise, and try them on a device.",
        description = {
            "",
            "Each asks whether a few steps of a few threads can end in a certain way. The answer comes from a model,"
                    + " for three levels of devices: strong (software), card (cards of today), standard (whatever the"
                    + " standards allow). With NAME the program and its cures run on the device, again and again, and"
                    + " each outcome is held against the model. Without NAME it lists them. Status 1: the device has"
                    + " shown what it may not."
        })
public final class LitmusCommand extends ToolCommand {
    private static final int RUNS_MAX = 1_000_000;

    @Parameters(paramLabel = "NAME", arity = "0..1", description = "One of the list, or 'all'.")
    private @Nullable String name;

    @Option(
            names = {"-d", "--device"},
            paramLabel = "DEVICE",
            defaultValue = "rocev2",
            description = "The device of all nodes. Default: rocev2.")
    private String deviceName;

    @Option(
            names = "--runs",
            paramLabel = "N",
            defaultValue = "200",
            description = "Run each program so often; 0 asks only the model. Default: 200.")
    private int runs;

    @Option(
            names = "--seed",
            paramLabel = "N",
            defaultValue = "1",
            description = "The seed of the order and the delays of steps. Default: 1.")
    private long seed;

    @Option(names = "--html", paramLabel = "FILE", description = "Write a page for a browser.")
    private @Nullable Path html;

    @Option(names = "--json", description = "Print one JSON object, and nothing else.")
    private boolean json;

    @Override
    public Integer call() throws InterruptedException {
        range("--runs", runs, 0, RUNS_MAX);
        boolean isList = name == null;
        Optional<LitmusDevice> device = isList || runs == 0
                ? Optional.empty()
                : Optional.of(new LitmusDevice(Device.named(deviceName), Profile.of(deviceName), runs, seed));
        var stories = new ArrayList<LitmusStory>();
        boolean isRight = true;
        for (Litmus litmus : litmuses()) {
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            LitmusStory story = LitmusStory.of(litmus, device);
            isRight &= story.isRight();
            stories.add(story);
            if (!json && !isList) {
                LitmusText.story(story, device).forEach(this::print);
            }
        }
        if (!json && stories.size() > 1) {
            device.ifPresent(on -> print(LitmusText.sum(stories, on)));
        }
        if (json) {
            print(Json.format(LitmusStory.facts(stories, device)));
        } else if (isList) {
            LitmusText.list(stories).forEach(this::print);
        }
        if (html != null) {
            write(html, LitmusPage.of(stories, device));
        }
        return isRight ? 0 : 1;
    }

    private List<Litmus> litmuses() {
        if (name == null || name.equals("all")) {
            return Litmuses.all();
        }
        try {
            return List.of(Litmuses.named(name));
        } catch (IllegalArgumentException e) {
            throw wrong("NAME: " + e.getMessage());
        }
    }

    private static void write(Path file, String page) {
        try {
            Files.writeString(file, page);
        } catch (IOException e) {
            throw CommandFailed.io("--html: cannot write " + file, e);
        }
    }
}
