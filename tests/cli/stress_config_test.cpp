// SPDX-License-Identifier: Apache-2.0
// Configurations of runs: what is read, and what is refused where.
#include <boost/test/unit_test.hpp>

#include <filesystem>

#include <kvpane/cli/manager_config.h>
#include <kvpane/cli/stress_config.h>

#include "cli/program.h"

using namespace kvpane;
using cli::parse_run_config;
using cli::RunConfig;
using invariants::CheckMode;
using invariants::LengthDistribution;
using invariants::Mix;
using testing::Folder;
using testing::refusal_of;

namespace {

const std::string pool = "[pool]\nblock_size = 4\nblocks = 16\n";  // three lines
const std::string prompt = "[workload.prompt]\ndistribution = \"uniform\"\nmin = 1\nmax = 9\n";

RunConfig parse(const std::string& rest) { return parse_run_config("c.toml", pool + rest); }
std::string refused(const std::string& rest) {
    return refusal_of([&] { parse(rest); });
}
std::string refused_file(const std::string& text) {
    return refusal_of([&] { parse_run_config("c.toml", text); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(stress_config)

BOOST_AUTO_TEST_CASE(a_pool_alone_is_a_configuration_of_one_full_group) {
    const RunConfig config = parse("");
    BOOST_TEST(config.stress.manager.block_size == 4U);
    BOOST_TEST(config.stress.manager.blocks == 16);
    BOOST_TEST(config.stress.manager.prefix_cache.enabled);
    BOOST_REQUIRE(config.stress.manager.groups.size() == 1U);
    BOOST_TEST(config.stress.manager.groups[0].name == "full");
    BOOST_TEST(config.stress.manager.groups[0].window == 0);
    BOOST_TEST(!config.has_workload);
    BOOST_TEST(!config.says_check);
}

BOOST_AUTO_TEST_CASE(every_key_arrives) {
    const RunConfig config = parse(
        "watermark = 2\n"
        "[manager]\nmax_length = 99\nwindow_release = \"reserve\"\nrewind_slack = 3\n"
        "[prefix_cache]\nenabled = false\ngranularity = \"token\"\npolicy = \"lfu\"\nhash = \"constant\"\n"
        "most_pinned = 5\n"
        "[payload]\nlayout = \"hnd\"\ninterleaved = true\ndtype = \"e4m3\"\nkv_heads = 3\nhead_dim = 16\n"
        "[[group]]\nname = \"a\"\n[[group]]\nname = \"b\"\nwindow = 8\nsinks = 2\n"
        "[run]\nseed = 7\nsteps = 123\ncheck = \"sampled\"\n"
        "[check]\ntouched_every = 5\nall_every = 50\n"
        "[workload]\nmost_sequences = 9\nswarm = true\nchunked_percent = 11\nfork_at_percent = 12\nbatched_percent = 21\nopen_steps = 3\n"
        "longest = 77\n"
        "[workload.mix]\nadmit = 60\nreserve = 35\nreset_cache = 5\n" +
        prompt +
        "[workload.prefixes]\ncount = 3\nzipf = 1.25\nshared_percent = 41\nreturning_percent = 22\n"
        "edited_percent = 13\nforget_percent = 14\nremembered = 15\ntenants = 6\npriorities = 7\npictures_percent = 19\nalphabet = 18\n"
        "priority_steps = 8\n"
        "[workload.prefixes.length]\ndistribution = \"edges\"\nmin = 4\nmax = 19\n"
        "[workload.chunk]\ndistribution = \"edges\"\nmin = 2\nmax = 8\n"
        "[workload.draft]\ndistribution = \"lognormal\"\nmedian = 4\nsigma = 0.5\nmin = 1\nmax = 6\n"
        "[workload.rewind]\ndistribution = \"uniform\"\nmin = 3\nmax = 3\n"
        "[trace]\nsamples = 4\nalive = 2\n");
    const Config& manager = config.stress.manager;
    BOOST_TEST(manager.watermark == 2);
    BOOST_TEST(manager.max_length == 99);
    BOOST_TEST((manager.window_release == WindowRelease::reserve));
    BOOST_TEST(manager.rewind_slack == 3);
    BOOST_TEST(!manager.prefix_cache.enabled);
    BOOST_TEST((manager.prefix_cache.granularity == Granularity::token));
    BOOST_TEST((manager.prefix_cache.policy == EvictionPolicy::lfu));
    BOOST_TEST(manager.prefix_cache.constant_hash);
    BOOST_TEST(manager.prefix_cache.most_pinned == 5);
    BOOST_REQUIRE(manager.groups.size() == 2U);
    BOOST_TEST(manager.groups[1].name == "b");
    BOOST_TEST(manager.groups[1].window == 8);
    BOOST_TEST(manager.groups[1].sinks == 2);
    BOOST_REQUIRE(config.stress.payload.has_value());
    BOOST_TEST((*config.stress.payload == invariants::PayloadOptions{.order = CellOrder::hnd,
                                                                     .interleaved = true,
                                                                     .dtype = DType::e4m3,
                                                                     .kv_heads = 3,
                                                                     .head_dim = 16}));
    BOOST_TEST(config.stress.seed == 7U);
    BOOST_TEST(config.stress.steps == 123);
    BOOST_TEST((config.stress.check == CheckMode::sampled));
    BOOST_TEST(config.says_check);
    BOOST_TEST(config.stress.sampling.touched_every == 5);
    BOOST_TEST(config.stress.sampling.all_every == 50);
    BOOST_TEST(config.has_workload);
    BOOST_TEST(config.stress.most_sequences == 9U);
    BOOST_TEST(config.stress.swarm);
    BOOST_TEST(config.stress.chunked_percent == 11);
    BOOST_TEST(config.stress.batched_percent == 21);
    BOOST_TEST(config.stress.fork_at_percent == 12);
    BOOST_TEST(config.stress.open_steps == 3U);
    BOOST_TEST(config.stress.longest == 77);
    BOOST_TEST(config.stress.mix.percent[Mix::admit] == 60);
    BOOST_TEST(config.stress.mix.percent[Mix::reserve] == 35);
    BOOST_TEST(config.stress.mix.percent[Mix::reset_cache] == 5);
    const invariants::Sharing& sharing = config.stress.sharing;
    BOOST_TEST(sharing.count == 3U);
    BOOST_TEST(sharing.zipf == 1.25);
    BOOST_TEST(sharing.shared_percent == 41);
    BOOST_TEST(sharing.returning_percent == 22);
    BOOST_TEST(sharing.edited_percent == 13);
    BOOST_TEST(sharing.forget_percent == 14);
    BOOST_TEST(sharing.remembered == 15U);
    BOOST_TEST(sharing.tenants == 6U);
    BOOST_TEST(sharing.priorities == 7U);
    BOOST_TEST(sharing.priority_steps == 8U);
    BOOST_TEST(sharing.pictures_percent == 19);
    BOOST_TEST(sharing.alphabet == 18);
    BOOST_TEST((sharing.length.kind == LengthDistribution::Kind::edges));
    BOOST_TEST(sharing.length.max == 19);
    BOOST_TEST((config.stress.prompt.kind == LengthDistribution::Kind::uniform));
    BOOST_TEST(config.stress.prompt.max == 9);
    BOOST_TEST((config.stress.chunk.kind == LengthDistribution::Kind::edges));
    BOOST_TEST((config.stress.draft.kind == LengthDistribution::Kind::lognormal));
    BOOST_TEST(config.stress.draft.median == 4.0);
    BOOST_TEST(config.stress.draft.sigma == 0.5);
    BOOST_TEST(config.stress.rewind.min == 3);
    BOOST_TEST(config.samples == 4U);
    BOOST_TEST(config.alive == 2U);
}

BOOST_AUTO_TEST_CASE(lengths_of_a_trace_are_found_beside_the_configuration) {
    const Folder folder;
    folder.write("data/t.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\na,5,6\nb,7,8\n");
    const std::string file =
        folder.write("c.toml", pool +
                                   "[workload.mix]\nadmit = 100\n[workload.prompt]\ndistribution = \"trace\"\n"
                                   "file = \"data/t.csv\"\ncolumn = \"generated\"\nmin = 1\nmax = 99\n");
    const LengthDistribution read = cli::read_run_config(file).stress.prompt;
    BOOST_TEST((read.kind == LengthDistribution::Kind::values));
    BOOST_TEST(read.values == (std::vector<Length>{6, 8}), boost::test_tools::per_element());

    folder.write("data/t.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\na,5,six\n");
    BOOST_TEST(refusal_of([&] { cli::read_run_config(file); }) ==
               folder.path("data/t.csv") + ":2:5: GeneratedTokens must be a whole number, got 'six'");
}

BOOST_AUTO_TEST_CASE(pools_that_make_no_sense_are_refused_at_the_value) {
    BOOST_TEST(refused_file("") == "c.toml:1:1: 'pool' is missing in the file");
    BOOST_TEST(refused_file("[pool]\nblock_size = 0\nblocks = 1\n") ==
               "c.toml:2:14: 'block_size' in [pool] must be 1..1048576, got 0");
    BOOST_TEST(refused_file("[pool]\nblock_size = 4\nblocks = -1\n") ==
               "c.toml:3:10: 'blocks' in [pool] must be 1..16777216, got -1");
    BOOST_TEST(refused_file("[pool]\nblock_size = 1024\nblocks = 2000000\n") ==
               "c.toml:1:1: [pool] has 2048000000 cells (blocks * block_size); a run holds at most 134217728");
    BOOST_TEST(refused("watermark = 17\n") == "c.toml:4:13: 'watermark' in [pool] must be 0..16, got 17");
    BOOST_TEST(refused("block_sise = 1\n") ==
               "c.toml:4:1: unknown key 'block_sise' in [pool]; did you mean 'block_size'?");
}

BOOST_AUTO_TEST_CASE(groups_and_managers_that_make_no_sense_are_refused) {
    BOOST_TEST(refused("[[group]]\nname = \"a\"\nwindow = -1\n") ==
               "c.toml:6:10: 'window' in [[group]] 1 must be 0..2147483647, got -1");
    BOOST_TEST(refused("[[group]]\nname = \"a\"\n[[group]]\nname = \"a\"\n") == "c.toml:6:1: two groups are named 'a'");
    BOOST_TEST(refused("[[group]]\nname = \"\"\n") == "c.toml:4:1: a group needs a name");
    BOOST_TEST(refused("[[group]]\nwindow = 1\n") == "c.toml:4:1: 'name' is missing in [[group]] 1");
    BOOST_TEST(refused("[group]\nname = \"a\"\n") == "c.toml:4:1: 'group' in the file must be an array, not a table");
    BOOST_TEST(refused("[manager]\nwindow_release = \"comit\"\n") ==
               "c.toml:5:18: 'window_release' in [manager] must be 'commit' or 'reserve', not 'comit'; "
               "did you mean 'commit'?");
    BOOST_TEST(refused("[prefix_cache]\nenabled = 1\n") ==
               "c.toml:5:11: 'enabled' in [prefix_cache] must be a boolean, not an integer");
    BOOST_TEST(refused("[prefix_cache]\npolicy = \"fifo\"\n") ==
               "c.toml:5:10: 'policy' in [prefix_cache] must be 'lru' or 'lfu', not 'fifo'");
    BOOST_TEST(refused("[prefix_cache]\nmost_pinned = 17\n") ==
               "c.toml:5:15: 'most_pinned' in [prefix_cache] must be 0..16, got 17");
}

BOOST_AUTO_TEST_CASE(a_mix_that_does_not_sum_to_100_is_refused_with_its_sum) {
    BOOST_TEST(refused("[workload.mix]\nadmit = 60\nappend = 37\n") ==
               "c.toml:4:1: the percentages of [workload.mix] sum to 97, not to 100");
    BOOST_TEST(refused("[workload.mix]\nadmit = 60\nappend = 60\n") ==
               "c.toml:4:1: the percentages of [workload.mix] sum to 120, not to 100");
    BOOST_TEST(refused("[workload.mix]\nadmit = -1\n") ==
               "c.toml:5:9: 'admit' in [workload.mix] must be 0..100, got -1");
    BOOST_TEST(refused("[workload.mix]\nadmit = 50.0\n") ==
               "c.toml:5:9: 'admit' in [workload.mix] must be an integer, not a float");
    BOOST_TEST(refused("[workload.mix]\nadmitt = 100\n") ==
               "c.toml:5:1: unknown key 'admitt' in [workload.mix]; did you mean 'admit'?");
}

BOOST_AUTO_TEST_CASE(a_distribution_that_the_mix_draws_from_must_be_there) {
    const std::string mix = "[workload.mix]\nadmit = 100\n";
    BOOST_TEST(refused(mix).find("'prompt' is missing in [workload]") != std::string::npos);
    BOOST_TEST(refused(mix + prompt).empty());
    BOOST_TEST(refused("[workload.mix]\nadmit = 90\nappend = 10\n" + prompt).find("'chunk' is missing") !=
               std::string::npos);
    BOOST_TEST(refused("[workload.mix]\nadmit = 90\nreserve = 10\n" + prompt).find("'draft' is missing") !=
               std::string::npos);
    BOOST_TEST(refused("[workload.mix]\nadmit = 90\ntruncate = 10\n" + prompt).find("'rewind' is missing") !=
               std::string::npos);
}

BOOST_AUTO_TEST_CASE(distributions_that_make_no_sense_are_refused) {
    const auto with = [](const std::string& keys) {
        return refused("[workload.mix]\nadmit = 100\n[workload.prompt]\n" + keys);
    };
    BOOST_TEST(with("distribution = \"unifrom\"\n").starts_with("c.toml:7:16: 'distribution' in [workload.prompt] "));
    BOOST_TEST(with("distribution = \"unifrom\"\n").ends_with("did you mean 'uniform'?"));
    BOOST_TEST(with("distribution = \"uniform\"\nmin = 0\nmax = 3\n") ==
               "c.toml:8:7: 'min' in [workload.prompt] must be 1..16777216, got 0");
    BOOST_TEST(with("distribution = \"uniform\"\nmin = 5\nmax = 3\n") ==
               "c.toml:9:7: 'max' in [workload.prompt] must be 5..16777216, got 3");
    BOOST_TEST(with("distribution = \"uniform\"\nmin = 1\nmax = 3\nsigma = 1\n") ==
               "c.toml:10:1: unknown key 'sigma' in [workload.prompt]");
    BOOST_TEST(with("distribution = \"lognormal\"\nmin = 1\nmax = 3\nmedian = 0\nsigma = 1\n") ==
               "c.toml:10:10: 'median' in [workload.prompt] must be 1..16777216, got 0");
    BOOST_TEST(with("distribution = \"trace\"\nmin = 1\nmax = 3\ncolumn = \"context\"\nfile = \"none.csv\"\n") ==
               "none.csv:1:1: cannot be opened: No such file or directory");
}

BOOST_AUTO_TEST_CASE(prefixes_that_make_no_sense_are_refused) {
    const auto with = [](const std::string& keys) {
        return refused("[workload.mix]\nadmit = 100\n" + prompt + "[workload.prefixes]\n" + keys);
    };
    BOOST_TEST(with("").empty());
    BOOST_TEST(with("shared_percent = 60\nreturning_percent = 30\nedited_percent = 11\n") ==
               "c.toml:10:1: shared_percent, returning_percent and edited_percent of [workload.prefixes] sum to 101, "
               "to more than 100");
    BOOST_TEST(with("shared_percent = 101\n") ==
               "c.toml:11:18: 'shared_percent' in [workload.prefixes] must be 0..100, got 101");
    BOOST_TEST(with("shared_percent = 10\ncount = 0\n") ==
               "c.toml:12:9: 'count' in [workload.prefixes] must be 1..65536, got 0");
    BOOST_TEST(with("shared_percent = 10\n") == "c.toml:10:1: 'length' is missing in [workload.prefixes]");
    BOOST_TEST(with("count = 1\n[workload.prefixes.length]\ndistribution = \"uniform\"\nmin = 0\n") ==
               "c.toml:14:7: 'min' in [workload.prefixes.length] must be 1..16777216, got 0");
    BOOST_TEST(with("zipf = -1\n") == "c.toml:11:8: 'zipf' in [workload.prefixes] must be 0..10, got -1");
    BOOST_TEST(with("zipf = \"1\"\n") == "c.toml:11:8: 'zipf' in [workload.prefixes] must be a number, not a string");
    BOOST_TEST(with("tenants = 0\n") == "c.toml:11:11: 'tenants' in [workload.prefixes] must be 1..65536, got 0");
    BOOST_TEST(with("priorites = 2\n") ==
               "c.toml:11:1: unknown key 'priorites' in [workload.prefixes]; did you mean 'priorities'?");
    BOOST_TEST(with("returning_percent = 5\n").find("'chunk' is missing") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(runs_that_make_no_sense_are_refused) {
    BOOST_TEST(refused("[run]\nsteps = 0\n") == "c.toml:5:9: 'steps' in [run] must be 1..1000000000000, got 0");
    BOOST_TEST(refused("[run]\nseed = -1\n") == "c.toml:5:8: 'seed' in [run] must be at least 0, got -1");
    BOOST_TEST(refused("[run]\ncheck = \"always\"\n") ==
               "c.toml:5:9: 'check' in [run] must be 'off', 'sampled' or 'every', not 'always'");
    BOOST_TEST(refused("[check]\nall_every = 0\n") ==
               "c.toml:5:13: 'all_every' in [check] must be 1..1000000000000, got 0");
    BOOST_TEST(refused("[trace]\nsamples = 0\n") == "c.toml:5:11: 'samples' in [trace] must be 1..1024, got 0");
    BOOST_TEST(refused("[wrokload]\n") == "c.toml:4:2: unknown key 'wrokload' in the file; did you mean 'workload'?");
}

BOOST_AUTO_TEST_CASE(a_payload_is_there_when_its_table_is_and_is_not_switched_off) {
    BOOST_TEST(!parse("").stress.payload.has_value());
    BOOST_TEST((parse("[payload]\n").stress.payload == invariants::PayloadOptions{}));
    BOOST_TEST(!parse("[payload]\nenabled = false\ndtype = \"f32\"\n").stress.payload.has_value());
}

BOOST_AUTO_TEST_CASE(payloads_that_make_no_sense_are_refused) {
    BOOST_TEST(refused("[payload]\nlayout = \"ndh\"\n") ==
               "c.toml:5:10: 'layout' in [payload] must be 'nhd' or 'hnd', not 'ndh'; did you mean 'nhd'?");
    BOOST_TEST(refused("[payload]\ndtype = \"f8\"\n") ==
               "c.toml:5:9: 'dtype' in [payload] must be 'f32', 'f16', 'bf16', 'e4m3' or 'e5m2', not 'f8'");
    BOOST_TEST(refused("[payload]\nkv_heads = 0\n") == "c.toml:5:12: 'kv_heads' in [payload] must be 1..128, got 0");
    BOOST_TEST(refused("[payload]\nhead_dim = 264\n") ==
               "c.toml:5:12: 'head_dim' in [payload] must be 8..256, got 264");
    BOOST_TEST(refused("[payload]\nhead_dim = 20\n") ==
               "c.toml:5:12: 'head_dim' in [payload] must be a multiple of 8, got 20");
    BOOST_TEST(refused("[payload]\nheads = 2\n") == "c.toml:5:1: unknown key 'heads' in [payload]");
    BOOST_TEST(refused_file("[pool]\nblock_size = 16\nblocks = 100000\n[payload]\nhead_dim = 256\n") ==
               "c.toml:4:1: the payload needs 3276832768 bytes in each of 1 groups, more than 1 GiB in all: use fewer "
               "blocks, smaller cells, or no payload");
}

BOOST_AUTO_TEST_CASE(every_configuration_of_the_repository_can_be_read_and_has_a_workload) {
    int read = 0;
    for (const auto& entry : std::filesystem::directory_iterator(KVPANE_SOURCE_DIR "/configs")) {
        if (entry.is_directory()) {
            continue;  // configs/explore: other files, see explore_test.cpp
        }
        BOOST_TEST_CONTEXT(entry.path()) {
            BOOST_TEST(cli::read_run_config(entry.path().string()).has_workload);
            ++read;
        }
    }
    BOOST_TEST(read >= 8);
}

BOOST_AUTO_TEST_SUITE_END()
